import { randomUUID } from 'node:crypto';
import { connectBroker } from '#shared/broker/connect-broker.ts';
import { startWorker, type Worker, type WorkerFacts } from '#shared/broker/worker-loop/start-worker.ts';
import { loadConfig } from '#shared/core/load-config.ts';
import { createLog } from '#shared/core/log.ts';
import { Releases } from '#shared/core/release.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { gpuWorkerConfig } from './config.ts';
import { EngineHttp } from './engine-http.ts';
import { findEngine } from './find-engine.ts';
import { EngineFollower, type EngineState } from './follow-engine.ts';
import { createHandleJob } from './handle-job.ts';
import { createImageFetcher } from './images/image-fetcher.ts';

/** For engines that do not tell how many requests they work on at once. */
const defaultSlots = 8;
const maxSlots = 1024;

const config = loadConfig(gpuWorkerConfig, process.env);
const id = config.WORKER_ID ?? `gpu-${randomUUID().slice(0, 8)}`;
const log = createLog({ service: 'gpu-worker', level: config.LOG_LEVEL, format: config.LOG_FORMAT }).child({
  worker: id,
});
const releases = new Releases();
const stopping = new AbortController();

function factsOf({ models, slots, healthy }: EngineState): WorkerFacts {
  return { models, slots: Math.min(config.SLOTS || slots || defaultSlots, maxSlots), accepting: healthy };
}

async function start(): Promise<void> {
  const http = new EngineHttp({
    url: config.ENGINE_URL,
    apiKey: config.ENGINE_API_KEY,
    connections: maxSlots,
    connectTimeoutMs: config.CONNECT_TIMEOUT_MS,
  });
  releases.add('the engine', () => http.close());
  const { engine, found } = await findEngine({ http, kind: config.ENGINE_KIND, log, signal: stopping.signal });

  const broker = await connectBroker({ url: config.NATS_URL, name: id, prefix: config.RTR_PREFIX, log });
  releases.add('the broker', () => broker.nc.close());

  let worker: Worker | undefined;
  const announce = (state: EngineState): void => worker?.update(factsOf(state));
  const follower = new EngineFollower({ http, engine, log, found, onChange: announce });
  releases.add('the look at the engine', () => follower.close());

  const started = await startWorker({
    broker,
    log,
    id,
    tier: 'gpu',
    kind: engine.kind,
    version: packageJson.version,
    coalesceMs: config.COALESCE_MS,
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
  releases.add('the worker', async () => {
    await started.drain(config.DRAIN_TIMEOUT_MS);
    await started.close();
  });
  worker = started;
  announce(follower.state);
  log.info({ engine: engine.kind, slots: factsOf(follower.state).slots }, 'worker started');
}

const starting = start().catch((error: unknown) => {
  if (stopping.signal.aborted) return;
  log.fatal({ err: error }, 'the worker could not start');
  process.exitCode = 1;
  stopping.abort();
});

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    log.info({ signal }, 'stopping');
    stopping.abort();
  });
}

stopping.signal.addEventListener('abort', () => {
  starting
    .then(() => releases.run())
    .then((errors) => {
      for (const error of errors) log.error({ err: error }, 'stopping was not clean');
    })
    .catch((error: unknown) => log.error({ err: error }, 'stopping failed'));
});
