import { randomBytes } from 'node:crypto';
import { beforeAll, inject } from 'vitest';
import { connectBroker } from '#shared/broker/connection/connect-broker.ts';
import { startWorker, type Worker } from '#shared/broker/worker/start-worker.ts';
import type { WorkerOptions } from '#shared/broker/worker/worker-options.ts';
import { createLog } from '#shared/core/log.ts';
import { testWorker } from '../broker/test-worker.ts';
import { scriptedHandler, type Step, type OnStep } from '../broker/scripted-handler.ts';
import { startCluster, type Cluster, type ClusterOptions } from './start-cluster.ts';
import { shareCluster, type SharedCluster, type SharedOptions } from './share-cluster.ts';
import { until } from '../until.ts';
import { useStarted } from '../use-started.ts';

/**
 * Changes of a test to a fetch.
 * @property url address of another ingress of the cluster
 */
type Init = Omit<RequestInit, 'headers'> & { headers?: Record<string, string>; url?: string };

/** A real ingress process, served by scripted workers in the test's own process. */
export type ScriptedCluster = Cluster & Scripted;

interface Scripted {
  /** Starts a worker of the model `demo`, and resolves when the ingress lists it. */
  addScripted: (options?: Partial<WorkerOptions>, onStep?: OnStep) => Promise<Worker>;
  /** Posts a chat request with a script for the worker. */
  post: (steps: Step[], fields?: Record<string, unknown>, init?: Init) => Promise<Response>;
  /** Posts any bytes to the chat completions. */
  postRaw: (body: RequestInit['body'], init?: Init) => Promise<Response>;
}

/** Returns a chat request with a script for a scripted worker. */
export function chatRequest(steps: Step[], fields: Record<string, unknown> = {}): object {
  return { model: 'demo', messages: [{ role: 'user', content: 'Hello.' }], steps, ...fields };
}

const noWorkers = { workers: 0, engineUrl: 'http://127.0.0.1:9' };

/** Starts an ingress without workers. Call its `stop` in `afterAll` or `onTestFinished`. */
export async function startScriptedCluster(options: ClusterOptions = {}): Promise<ScriptedCluster> {
  return withScripted(await startCluster({ ...options, ...noWorkers }), options.natsUrl);
}

/** Returns the same on a [shared cluster](./share-cluster.ts). Its `stop`, for `afterAll`, also stops its workers. */
export async function shareScriptedCluster(options: SharedOptions = {}): Promise<SharedCluster & Scripted> {
  return withScripted(await shareCluster({ ...options, ...noWorkers }));
}

/**
 * Shares a cluster for the tests of the calling file or suite. The returned object has the cluster's fields in these tests, and in hooks
 * that are added after it.
 * @param worker a scripted worker to start; default: none
 */
export function useScriptedCluster(
  options: SharedOptions = {},
  worker?: Partial<WorkerOptions>,
  onStep?: OnStep,
): SharedCluster & Scripted {
  const cluster = useStarted(() => shareScriptedCluster(options));
  if (worker) beforeAll(async () => void (await cluster.addScripted(worker, onStep)));
  return cluster;
}

/** Adds the functions of scripted workers to a cluster. */
export function withScripted<T extends Cluster>(cluster: T, natsUrl = inject('natsUrl')): T & Scripted {
  const log = createLog({ service: 'test', level: 'silent', format: 'json' });
  const releases: (() => Promise<void>)[] = [];
  const postRaw = (body: RequestInit['body'], { url = cluster.url, ...init }: Init = {}): Promise<Response> =>
    fetch(`${url}/api/openai/chat/completions`, {
      method: 'POST',
      ...init,
      ...(body === undefined ? {} : { body }),
      headers: { authorization: `Bearer ${cluster.key}`, 'content-type': 'application/json', ...init.headers },
    });
  return {
    ...cluster,
    addScripted: async (workerOptions = {}, onStep = () => undefined) => {
      const id = workerOptions.id ?? `w${randomBytes(4).toString('hex')}`;
      const broker = await connectBroker({ url: natsUrl, name: id, prefix: cluster.prefix, log });
      const worker = startWorker({
        ...testWorker,
        broker,
        log,
        id,
        models: [{ id: 'demo', capabilities: ['stream', 'tools', 'vision', 'json'] }],
        slots: 1_000,
        handler: scriptedHandler(id, onStep),
        ...workerOptions,
      });
      releases.push(async () => {
        await worker.drain(0);
        await worker.close();
        await broker.close();
      });
      await until(() => cluster.ingress.lines.some((line) => line['msg'] === 'worker joined' && line['worker'] === id));
      return worker;
    },
    postRaw,
    post: (steps, fields, init) => postRaw(JSON.stringify(chatRequest(steps, fields)), init),
    stop: async () => {
      for (const release of releases) await release();
      await cluster.stop();
    },
  };
}
