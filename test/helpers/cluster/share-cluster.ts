import { randomBytes } from 'node:crypto';
import { startCluster, type Cluster, type ClusterOptions } from './start-cluster.ts';
import { hasSaid } from './has-said.ts';
import { startProcess, type ServiceProcess } from '../processes/start-process.ts';
import { until } from '../until.ts';
import { useStarted } from '../use-started.ts';

/** Options in which clusters that files share may differ. Redis, NATS and prefix are those of the run. */
export type SharedOptions = Omit<ClusterOptions, 'prefix' | 'natsUrl' | 'redisUrl'> & {
  /** Settings of an ingress that no other file uses: it stops with this file. Instead of `ingress`. */
  ingressOnce?: Record<string, string>;
};

type Node = Awaited<ReturnType<Cluster['addIngress']>>;

export interface SharedCluster extends Cluster {
  /** Starts a second ingress with the same settings, which later files also use. */
  otherIngress: () => Promise<Node>;
  /** Starts one more demo engine, and a gpu-worker for it. */
  addEngine: (
    engine: Record<string, string>,
    worker?: Record<string, string>,
  ) => Promise<{ engine: ServiceProcess; engineUrl: string; worker: ServiceProcess }>;
}

interface Running {
  cluster: Promise<Cluster>;
  nodes: Map<string, Promise<Node>>;
}

// Modules may be loaded anew within a process.
const { sharedClusters: running } = ((
  globalThis as { rtrTests?: { sharedClusters: Map<string, Running> } }
).rtrTests ??= { sharedClusters: new Map() });

/**
 * Returns a cluster that test files of this process with equal options use one after the other: only the first one waits for its start.
 * Where only the settings of the ingress differ, they share the rest. It has a key of its own and no earlier log lines. Its `stop`, for
 * `afterAll`, stops the services that were added to it. For tests that kill or stop nothing of it, and count only the effects of their own
 * keys and models.
 */
export async function shareCluster(options: SharedOptions = {}): Promise<SharedCluster> {
  const { key, ingressOnce, ingress: settings = ingressOnce, ...others } = options;
  const wanted = { ...others, worker: { SLOTS: '8', ...others.worker } };
  const kind = JSON.stringify(wanted);
  const { cluster: start, nodes } = running.get(kind) ?? { cluster: startCluster(wanted), nodes: new Map() };
  running.set(kind, { cluster: start, nodes });
  const cluster = await start;
  for (const { lines } of [cluster.ingress, ...cluster.workers]) lines.length = 0;
  const added: ServiceProcess[] = [];
  const addIngress = async (environment: Record<string, string> = {}): Promise<Node> => {
    const node = await cluster.addIngress({ ...settings, ...environment });
    added.push(node.process);
    return node;
  };
  const nodeOf = (name: string): Promise<Node> => {
    const node = nodes.get(name) ?? cluster.addIngress(settings);
    nodes.set(name, node);
    return node;
  };
  const findNode = async (): Promise<Node> => {
    if (ingressOnce) return addIngress();
    return settings ? nodeOf(JSON.stringify(settings)) : { ...cluster, process: cluster.ingress };
  };
  const { process: ingress, url, adminUrl } = await findNode();
  ingress.lines.length = 0;

  const workers: string[] = [];
  const addKept =
    (add: (environment: Record<string, string>) => Promise<ServiceProcess>) =>
    async (environment: Record<string, string> = {}): Promise<ServiceProcess> => {
      const id = environment['WORKER_ID'] ?? `w${randomBytes(4).toString('hex')}`;
      workers.push(id);
      const process = await add({ ...environment, WORKER_ID: id });
      added.push(process);
      await until(() => hasSaid(ingress, id, 'worker joined'));
      return process;
    };
  const addWorker = addKept(cluster.addWorker);
  const workersBefore = cluster.workers.length;
  const { raw, id } = await cluster.addKey(key ?? {});
  return {
    ...cluster,
    url,
    adminUrl,
    ingress,
    key: raw,
    keyId: id,
    addWorker,
    addToolsWorker: addKept(cluster.addToolsWorker),
    addCliWorker: addKept(cluster.addCliWorker),
    addCloudWorker: addKept(cluster.addCloudWorker),
    addBatchRunner: async (environment) => {
      const runner = await cluster.addBatchRunner(environment);
      added.push(runner);
      return runner;
    },
    addIngress,
    otherIngress: () => (ingressOnce ? addIngress() : nodeOf(`other ${JSON.stringify(settings)}`)),
    addEngine: async (environment, worker) => {
      const engine = startProcess('services/demo-engine/main.ts', {
        PORT: '0',
        DEMO_OPTIONS: 'rate=0',
        ...environment,
      });
      added.push(engine);
      const engineUrl = String((await engine.line('demo engine is ready'))['url']);
      return { engine, engineUrl, worker: await addWorker({ ENGINE_URL: engineUrl, ...worker }) };
    },
    stop: async () => {
      await Promise.all(added.map((process) => process.stop()));
      cluster.workers.length = workersBefore;
      // The next file begins without these workers. A stopped ingress logs nothing more.
      for (const node of ingressOnce ? [cluster.ingress] : [cluster.ingress, ingress])
        for (const id of workers)
          await until(() => hasSaid(node, id, 'worker left', 'worker is lost', 'worker was restarted'));
    },
  };
}

/** Shares a cluster for the tests of the calling file or suite. */
export const useCluster = (options?: SharedOptions): SharedCluster => useStarted(() => shareCluster(options));
