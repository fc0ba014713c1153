import { randomUUID } from 'node:crypto';
import { connectBroker } from '#shared/broker/connection/connect-broker.ts';
import { readBrokerAccess } from '#shared/broker/connection/read-broker-access.ts';
import { startWorker, type Worker } from '#shared/broker/worker/start-worker.ts';
import type { WorkerFacts } from '#shared/broker/worker/worker-options.ts';
import { loadConfig } from '#shared/core/load-config.ts';
import { createLog } from '#shared/core/log.ts';
import { runService } from '#shared/core/run-service.ts';
import { openTracing } from '#shared/core/tracing/open-tracing.ts';
import { openWorkerAdmin } from '#shared/worker/worker-admin.ts';
import { version } from '#shared/core/version.ts';
import { gpuWorkerConfig, maxSlots } from './config.ts';
import { EngineHttp } from './engine-http.ts';
import { findEngine } from './find-engine.ts';
import { EngineFollower, type EngineState } from './follow-engine.ts';
import { createHandleJob } from './handle-job.ts';
import { createImageFetcher } from './images/image-fetcher.ts';

/** For engines that do not tell how many requests they work on at once. */
const defaultSlots = 8;

await runService(async (environment, releases) => {
  const config = loadConfig(gpuWorkerConfig, environment);
  const id = config.WORKER_ID ?? `gpu-${randomUUID().slice(0, 8)}`;
  const settings = { service: 'gpu-worker', level: config.LOG_LEVEL, format: config.LOG_FORMAT };
  const log = createLog(settings).child({ worker: id });
  const tracing = await openTracing({ ...settings, instance: id, environment, log });
  if (tracing) releases.add('traces', () => tracing.close());
  const admin = await openWorkerAdmin({ ...settings, config, log, releases });
  const factsOf = ({ models, slots, healthy }: EngineState): WorkerFacts => ({
    models,
    slots: Math.min(config.SLOTS || slots || defaultSlots, maxSlots),
    accepting: healthy,
  });

  const http = new EngineHttp({
    url: config.ENGINE_URL,
    apiKey: config.ENGINE_API_KEY,
    connections: maxSlots,
    connectTimeoutMs: config.CONNECT_TIMEOUT_MS,
    onOver: (call) => admin.metrics.asked(call),
  });
  releases.add('engine connections', () => http.close());
  const searching = new AbortController();
  releases.add('search for the engine', () => searching.abort());
  const { engine, found } = await findEngine({ http, kind: config.ENGINE_KIND, log, signal: searching.signal });

  const broker = await connectBroker({ ...readBrokerAccess(config), name: id, prefix: config.RTR_PREFIX, log });
  releases.add('broker', () => broker.close());

  let worker: Worker | undefined;
  const announce = (state: EngineState): void => worker?.update(factsOf(state));
  const follower = new EngineFollower({ http, engine, log, found, onChange: announce });
  releases.add('engine follower', () => follower.close());

  const started = startWorker({
    broker,
    log,
    id,
    tier: 'gpu',
    kind: engine.kind,
    formats: ['chat', 'messages'],
    version,
    coalesceMs: config.COALESCE_MS,
    meter: admin.metrics,
    tracing,
    handler: createHandleJob({
      http,
      engine,
      models: () => follower.state.models,
      onUnreachable: () => follower.unreachable(),
      fetchImage: createImageFetcher(),
      firstTokenMs: config.FIRST_TOKEN_TIMEOUT_MS,
      idleMs: config.IDLE_TIMEOUT_MS,
      answerMs: config.ANSWER_TIMEOUT_MS,
    }),
    ...factsOf(follower.state),
  });
  releases.add('worker', async () => {
    await started.drain(config.DRAIN_MS);
    await started.close();
  });
  worker = started;
  admin.follow(started, broker);
  announce(follower.state);
  log.info({ engine: engine.kind, slots: factsOf(follower.state).slots }, 'gpu-worker is ready');
});
