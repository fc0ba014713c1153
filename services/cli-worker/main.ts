import { randomUUID } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import { connectBroker } from '#shared/broker/connection/connect-broker.ts';
import { readBrokerAccess } from '#shared/broker/connection/read-broker-access.ts';
import { startWorker, type Worker } from '#shared/broker/worker/start-worker.ts';
import { loadConfig } from '#shared/core/load-config.ts';
import { createLog } from '#shared/core/log.ts';
import { runService } from '#shared/core/run-service.ts';
import { openTracing } from '#shared/core/tracing/open-tracing.ts';
import { openWorkerAdmin } from '#shared/worker/worker-admin.ts';
import { version } from '#shared/core/version.ts';
import { Acceptance } from './acceptance.ts';
import { cliOf } from './clis/cli-of.ts';
import type { Cli } from './clis/cli.ts';
import { traceNameOf } from './clis/trace-name.ts';
import { cliWorkerConfig, type CliWorkerConfig } from './config.ts';
import { createHandleJob } from './handle-job.ts';
import { startSession } from './pool/live-session.ts';
import { SessionPool } from './pool/session-pool.ts';
import { ProcessGuard } from './process/process-guard.ts';
import { watchProcesses } from './watch-processes.ts';
import { ProcessStarter } from './process/process-starter.ts';

const mebibyte = 1024 * 1024;

await runService(async (environment, releases) => {
  const config = loadConfig(cliWorkerConfig, environment);
  const id = config.WORKER_ID ?? `cli-${randomUUID().slice(0, 8)}`;
  const settings = { service: 'cli-worker', level: config.LOG_LEVEL, format: config.LOG_FORMAT };
  const log = createLog(settings).child({ worker: id });
  const tracing = await openTracing({ ...settings, instance: id, environment, log });
  if (tracing) releases.add('traces', () => tracing.close());
  const admin = await openWorkerAdmin({ ...settings, config, log, releases });
  const { cli, program } = cliOf(config.CLI_KIND, config.CLI_COMMAND);

  const root = await mkdtemp(join(tmpdir(), 'rtr-cli-'));
  const guard = new ProcessGuard(root, environment['PATH']);
  releases.add('the guard', () => guard.close());
  const starter = new ProcessStarter({ command: program, guard, environment, further: config.CLI_ENV });

  let worker: Worker | undefined;
  const acceptance = new Acceptance((accepting) => worker?.update({ accepting }));
  const sessions = { cli, starter, models: config.CLI_MODELS, root, startMs: config.START_TIMEOUT_MS, log };
  const pool = new SessionPool({
    start: (signal) => startSession(sessions, signal),
    size: config.SLOTS,
    singleUse: cli.singleUse,
    recycleAfter: config.RECYCLE_AFTER,
    recycleBytes: config.RECYCLE_MB * mebibyte,
    log,
    onHealth: (healthy) => acceptance.healthy(healthy),
  });
  watchProcesses(admin.registry, () => pool.counts);
  releases.add('the CLI processes', () => pool.close());

  const broker = await connectBroker({ ...readBrokerAccess(config), name: id, prefix: config.RTR_PREFIX, log });
  releases.add('the broker', () => broker.nc.close());
  const started = startWorker({
    broker,
    log,
    id,
    tier: 'cli',
    kind: cli.kind,
    formats: ['chat', 'messages'],
    version,
    coalesceMs: config.COALESCE_MS,
    meter: admin.metrics,
    tracing,
    handler: createHandleJob({
      take: (signal) => pool.take(signal),
      models: config.CLI_MODELS,
      traceName: traceNameOf(config.CLI_KIND),
      takesImages: cli.capabilities.includes('vision'),
      patience: {
        firstMs: config.FIRST_TOKEN_TIMEOUT_MS,
        idleMs: config.IDLE_TIMEOUT_MS,
        totalMs: config.ANSWER_TIMEOUT_MS,
      },
      onLimited: (seconds) => acceptance.limited(seconds),
      log,
    }),
    models: modelsOf(config, cli),
    slots: config.SLOTS,
    accepting: acceptance.accepting,
  });
  worker = started;
  admin.follow(started, broker);
  started.update({ accepting: acceptance.accepting });
  releases.add('the worker', async () => {
    await started.drain(config.DRAIN_MS);
    await started.close();
    acceptance.close();
  });
  log.info({ cli: cli.kind, models: config.CLI_MODELS, slots: config.SLOTS }, 'worker started');
});

function modelsOf({ CLI_MODELS, CLI_CONTEXT_WINDOW }: CliWorkerConfig, { capabilities }: Cli): ModelInfo[] {
  return CLI_MODELS.map((model) => ({
    id: model,
    capabilities: [...capabilities],
    ...(CLI_CONTEXT_WINDOW > 0 && { contextWindow: CLI_CONTEXT_WINDOW }),
  }));
}
