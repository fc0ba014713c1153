import { startCluster, type Cluster, type ClusterOptions } from './start-cluster.ts';
import type { ServiceProcess } from '../processes/start-process.ts';

/** What clusters that files share may differ in. Redis, NATS and prefix are those of the run. */
export type SharedOptions = Omit<ClusterOptions, 'prefix' | 'natsUrl' | 'redisUrl' | 'key'> &
  Pick<ClusterOptions, 'key'>;

const running = new Map<string, Promise<Cluster>>();

/**
 * A cluster that test files of this process with equal options use one after the other: only the first one waits for its start. It has a
 * key of its own and no log lines from before, and `stop`, which belongs into `afterAll`, stops what was added to it. For tests that kill or stop nothing of it, and count
 * only what their own keys and models did.
 */
export async function shareCluster({ key, ...options }: SharedOptions = {}): Promise<Cluster> {
  const kind = JSON.stringify(options);
  const start = running.get(kind) ?? startCluster(options);
  running.set(kind, start);
  const cluster = await start;
  const added: ServiceProcess[] = [];
  const keep =
    <Arguments extends unknown[]>(add: (...args: Arguments) => Promise<ServiceProcess>) =>
    async (...args: Arguments): Promise<ServiceProcess> => {
      const process = await add(...args);
      added.push(process);
      return process;
    };
  for (const { lines } of [cluster.ingress, ...cluster.workers]) lines.length = 0;
  const { raw, id } = await cluster.addKey(key ?? {});
  return {
    ...cluster,
    key: raw,
    keyId: id,
    addWorker: keep(cluster.addWorker),
    addToolsWorker: keep(cluster.addToolsWorker),
    addCliWorker: keep(cluster.addCliWorker),
    addCloudWorker: keep(cluster.addCloudWorker),
    addBatchRunner: keep(cluster.addBatchRunner),
    addIngress: async (environment) => {
      const ingress = await cluster.addIngress(environment);
      added.push(ingress.process);
      return ingress;
    },
    stop: async () => {
      await Promise.all(added.map((process) => process.stop()));
    },
  };
}
