import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { inject } from 'vitest';
import { connectRedis } from '#shared/store/redis/connect-redis.ts';
import { createKey, type NewKey } from '#shared/accounts/keys/create-key.ts';
import { KeyStore } from '#shared/accounts/keys/key-store.ts';
import { createLog } from '#shared/core/log.ts';
import { hasSaid } from './has-said.ts';
import { until } from '../until.ts';
import { builtFile } from '../processes/built-file.ts';
import { timeStart } from '../processes/starts.ts';
import { startProcess, type ServiceProcess } from '../processes/start-process.ts';

export interface ClusterOptions {
  /** Default: a random one. */
  prefix?: string;
  natsUrl?: string;
  redisUrl?: string;
  /** Further environment of the ingress, each gpu-worker and the demo engine. */
  ingress?: Record<string, string>;
  /** Node's flags for the ingress. Default: those of this process. */
  ingressFlags?: readonly string[];
  worker?: Record<string, string>;
  engine?: Record<string, string>;
  /** Number of gpu-workers for the demo engine. Default 1. */
  workers?: number;
  /** Another engine's URL instead of the demo engine. */
  engineUrl?: string;
  /** The folder of the release whose programs are started, read at each start. Without a folder: this release. */
  release?: { folder?: string | undefined };
  /** Settings of the cluster's key. Default: a router key of class normal, without limits. */
  key?: KeySettings;
}

/** Settings of a router key that a test may change. */
export type KeySettings = Partial<Omit<NewKey, 'ownerId'>>;

const fakeClaude = {
  CLI_KIND: 'claude',
  CLI_COMMAND: join(import.meta.dirname, '..', 'clis', 'fake-claude.ts'),
  CLI_MODELS: 'm1',
  ANTHROPIC_API_KEY: 'key',
};

/** A whole cluster of real processes on the shared servers: demo engine, gpu-workers, ingress. */
export interface Cluster {
  /** Address for clients, such as `http://127.0.0.1:1234`. */
  url: string;
  adminUrl: string;
  key: string;
  keyId: string;
  prefix: string;
  engineUrl: string;
  ingress: ServiceProcess;
  workers: ServiceProcess[];
  engine: ServiceProcess | undefined;
  /** Starts one more gpu-worker and waits until the ingress lists it. */
  addWorker: (environment?: Record<string, string>) => Promise<ServiceProcess>;
  /** Starts a tools-worker and waits until the ingress lists it. */
  addToolsWorker: (environment?: Record<string, string>) => Promise<ServiceProcess>;
  /** Starts a cli-worker and waits until the ingress lists it. It drives `fake-claude.ts` unless the environment sets another CLI. */
  addCliWorker: (environment?: Record<string, string>) => Promise<ServiceProcess>;
  /** Starts a cloud-worker for a provider and waits until clients can name its models. */
  addCloudWorker: (environment: Record<string, string>) => Promise<ServiceProcess>;
  /** Starts a batch runner and waits until it works. */
  addBatchRunner: (environment?: Record<string, string>) => Promise<ServiceProcess>;
  /** Creates one more router key. */
  addKey: (settings: KeySettings) => Promise<{ raw: string; id: string }>;
  /** Starts one more ingress on the same broker and accounts. */
  addIngress: (
    environment?: Record<string, string>,
  ) => Promise<{ process: ServiceProcess; url: string; adminUrl: string }>;
  stop(): Promise<void>;
}

/** Starts a cluster and waits until it serves. Call its `stop` in `afterAll`. */
export function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  return timeStart('cluster', () => start(options));
}

async function start(options: ClusterOptions): Promise<Cluster> {
  const prefix = options.prefix ?? `t${randomBytes(6).toString('hex')}`;
  const common = {
    NATS_URL: options.natsUrl ?? inject('natsUrl'),
    REDIS_URL: options.redisUrl ?? inject('redisUrl'),
    RTR_PREFIX: prefix,
    // All clusters store files in one NATS server, which reserves the room of each.
    FILES_MAX_BYTES: String(512 * 1024 * 1024),
  };
  const started: ServiceProcess[] = [];
  const launch = (file: string, environment: Record<string, string>, nodeFlags?: readonly string[]): ServiceProcess => {
    const { folder } = options.release ?? {};
    const program = folder === undefined ? file : join(folder, builtFile(file));
    const service = startProcess(program, { ...common, ...environment }, [], nodeFlags);
    started.push(service);
    return service;
  };
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((service) => service.stop()));
  };
  try {
    const engineSettings = { PORT: '0', DEMO_OPTIONS: 'rate=0', ...options.engine };
    const engine = options.engineUrl === undefined ? launch('services/demo-engine/main.ts', engineSettings) : undefined;
    const findEngine = async () => options.engineUrl ?? String((await engine?.line('demo engine is ready'))?.['url']);
    const addKey = (settings: KeySettings) => makeKey(common.REDIS_URL, prefix, settings);
    const addIngress = async (environment: Record<string, string> = {}) => {
      const settings = { PORT: '0', ADMIN_PORT: '0', LEAVE_MS: '0', ...options.ingress, ...environment };
      const process = launch('services/ingress/main.ts', settings, options.ingressFlags);
      const { address, admin } = await process.line('ingress is ready');
      return { process, url: urlOf(address as AddressInfo), adminUrl: urlOf(admin as AddressInfo) };
    };
    const [engineUrl, { process: ingress, url, adminUrl }, { raw: key, id: keyId }] = await Promise.all([
      findEngine(),
      addIngress(),
      addKey(options.key ?? {}),
    ]);
    const workers: ServiceProcess[] = [];
    const startWorker = async (file: string, environment: Record<string, string>): Promise<ServiceProcess> => {
      const id = environment['WORKER_ID'] ?? `w${randomBytes(4).toString('hex')}`;
      const worker = launch(file, { ...environment, WORKER_ID: id });
      workers.push(worker);
      await until(() => hasSaid(ingress, id, 'worker joined'));
      return worker;
    };
    const addWorker = (environment: Record<string, string> = {}) =>
      startWorker('services/gpu-worker/main.ts', { ENGINE_URL: engineUrl, ...options.worker, ...environment });
    const addToolsWorker = (environment: Record<string, string> = {}) =>
      startWorker('services/tools-worker/main.ts', environment);
    const addCliWorker = (environment: Record<string, string> = {}) =>
      startWorker('services/cli-worker/main.ts', { ...fakeClaude, ...environment });
    await Promise.all(Array.from({ length: options.workers ?? 1 }, () => addWorker()));
    const addCloudWorker = async (environment: Record<string, string>): Promise<ServiceProcess> => {
      const before = await listModels(url, key);
      const worker = launch('services/cloud-worker/main.ts', environment);
      await worker.line('cloud-worker is ready');
      await until(async () => (await listModels(url, key)) !== before);
      return worker;
    };
    const addBatchRunner = async (environment: Record<string, string> = {}): Promise<ServiceProcess> => {
      const runner = launch('services/batch-runner/main.ts', environment);
      await runner.line('batch-runner is ready');
      return runner;
    };
    const starters = { addBatchRunner, addKey, addWorker, addToolsWorker, addCliWorker, addCloudWorker, addIngress };
    return { url, adminUrl, key, keyId, prefix, engineUrl, ingress, workers, engine, ...starters, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function listModels(url: string, key: string): Promise<string> {
  const answer = await fetch(`${url}/api/openai/v1/models`, { headers: { authorization: `Bearer ${key}` } });
  return answer.text();
}

function urlOf({ address, port }: AddressInfo): string {
  return `http://${address}:${port}`;
}

async function makeKey(redisUrl: string, prefix: string, settings: KeySettings): Promise<{ raw: string; id: string }> {
  const connection = connectRedis(redisUrl, {
    log: createLog({ service: 'test', level: 'fatal', format: 'json' }),
    name: 'test',
  });
  try {
    await connection.whenReady(AbortSignal.timeout(30_000));
    const { rawKey: raw, record } = await createKey(new KeyStore(connection.redis, `${prefix}:`), {
      kind: 'router',
      name: 'test',
      class: 'normal',
      ...settings,
    });
    return { raw, id: record.id };
  } finally {
    connection.close();
  }
}
