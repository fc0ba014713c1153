import { randomUUID } from 'node:crypto';
import { connectBroker } from '#shared/broker/connection/connect-broker.ts';
import { readBrokerAccess } from '#shared/broker/connection/read-broker-access.ts';
import { startWorker, type Worker } from '#shared/broker/worker/start-worker.ts';
import type { WorkerFacts } from '#shared/broker/worker/worker-options.ts';
import { ConfigError, loadConfig } from '#shared/core/load-config.ts';
import { createLog } from '#shared/core/log.ts';
import { runService } from '#shared/core/run-service.ts';
import { openTracing } from '#shared/core/tracing/open-tracing.ts';
import { openWorkerAdmin } from '#shared/worker/worker-admin.ts';
import { version } from '#shared/core/version.ts';
import { cloudWorkerConfig } from './config.ts';
import { connectProvider } from './connect-provider.ts';
import { ModelFollower } from './follow-models.ts';
import { createHandleJob } from './handle-job.ts';
import { Pace } from './pace.ts';
import { providerOf } from './providers/provider-of.ts';
import { traceNameOf } from './providers/trace-name.ts';
import { readRateLimits } from './rate-limits.ts';
import { namedModels, readModels } from './read-models.ts';
import { createRefusalReport } from './report-refusal.ts';

await runService(async (environment, releases) => {
  const config = loadConfig(cloudWorkerConfig, environment);
  const id = config.WORKER_ID ?? `cloud-${randomUUID().slice(0, 8)}`;
  const settings = { service: 'cloud-worker', level: config.LOG_LEVEL, format: config.LOG_FORMAT };
  const log = createLog(settings).child({ worker: id, provider: config.PROVIDER });
  const tracing = await openTracing({ ...settings, instance: id, environment, log });
  if (tracing) releases.add('traces', () => tracing.close());
  const admin = await openWorkerAdmin({ ...settings, config, log, releases });
  const provider = providerOf(config.PROVIDER, config.PROVIDER_FORMAT);

  const http = connectProvider(provider, config, environment, (call) => admin.metrics.asked(call));
  releases.add('provider connections', () => http.close());
  const names =
    config.PROVIDER_MODELS.length > 0 ? config.PROVIDER_MODELS : (provider.fixedModels?.(environment) ?? []);
  if (names.length === 0 && !provider.list) {
    throw new ConfigError(`Nothing lists the models of ${provider.title}: name them in PROVIDER_MODELS.`);
  }

  const broker = await connectBroker({ ...readBrokerAccess(config), name: id, prefix: config.RTR_PREFIX, log });
  releases.add('broker', () => broker.nc.close());

  let worker: Worker | undefined;
  const announce = (): void => worker?.update(facts());
  const pace = new Pace({
    slots: config.SLOTS,
    onChange: (allowance) => {
      log.info(allowance, allowance.accepting ? 'the pace has changed' : 'no jobs are taken for a while');
      announce();
    },
  });
  releases.add('pace', () => pace.close());
  const reportRefusal = createRefusalReport(provider, log);
  const source = { provider, http, names, onStatus: reportRefusal };
  const follower = new ModelFollower(
    { read: () => readModels(source), log, everyMs: config.MODELS_REFRESH_MS, onChange: announce },
    namedModels(source, []),
  );
  releases.add('model follower', () => follower.close());
  const facts = (): WorkerFacts => {
    const { slots, accepting } = pace.allowance;
    // Nobody can ask for a model of a worker that knows none.
    return { models: [...follower.models], slots, accepting: accepting && follower.models.length > 0 };
  };

  const started = startWorker({
    broker,
    log,
    id,
    tier: 'cloud',
    kind: config.PROVIDER,
    formats: ['chat', 'messages'],
    version,
    coalesceMs: config.COALESCE_MS,
    meter: admin.metrics,
    tracing,
    handler: createHandleJob({
      http,
      provider,
      traceName: traceNameOf(config.PROVIDER),
      models: () => follower.models,
      bounds: {
        firstTokenMs: config.FIRST_TOKEN_TIMEOUT_MS,
        idleMs: config.IDLE_TIMEOUT_MS,
        answerMs: config.ANSWER_TIMEOUT_MS,
      },
      onHead: (status, headers) => {
        reportRefusal(status);
        if (status === 200) pace.accepted();
        pace.heard(readRateLimits(headers, Date.now()));
      },
      onRefused: (seconds) => pace.pause(seconds),
    }),
    ...facts(),
  });
  releases.add('worker', async () => {
    await started.drain(config.DRAIN_MS);
    await started.close();
  });
  worker = started;
  admin.follow(started, broker);
  announce();
  log.info({ slots: config.SLOTS, models: follower.models.length }, 'cloud-worker is ready');
});
