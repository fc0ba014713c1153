import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readCertificates, type Environment } from '#shared/core/load-config.ts';
import { Releases } from '#shared/core/release.ts';
import { isInstalledPackage } from '#shared/core/installed-package.mjs';
import { takeLock } from '#shared/core/take-lock.mjs';
import type { UpConfig } from '../config.ts';
import { Children } from './children/children.ts';
import { loadClusterState, saveClusterState } from './cluster-state.ts';
import { EngineWorkers } from './workers/engine-workers.ts';
import { findLocalEngines, listsModels, listNamedEngines } from './workers/find-engines.ts';
import { findOwnCommand } from '../client/lib/own-command.mjs';
import { toFolderError, UpError } from './up-error.ts';
import { packagesLock } from '../bootstrap/running-cluster.mjs';
import { serviceNodeFlags } from '../bootstrap/service-node-flags.mjs';
import { chooseFreePort, isPortFree } from './servers/free-port.ts';
import { toLocalUrl } from './cluster-addresses.ts';
import type { LogRelay } from '../logs/log-relay.ts';
import { type Plan, PlannedWorkers } from './workers/plan-workers.ts';
import { readWorkers } from './read-health.ts';
import { endLeftovers } from './children/running-children.ts';
import { setUpKeys } from './set-up-keys.ts';
import { spawnGuarded } from './children/child.ts';
import { buildServiceEnvironment, findServiceProgram, type ServiceName } from './service-environment.ts';
import { startServers } from './servers/start-servers.ts';
import { describeExposure } from './tls/exposure.ts';
import { prepareTlsFolder } from './tls/prepare-tls-folder.ts';
import { formatStartSummary } from './start-summary.ts';

export interface UpOptions {
  config: UpConfig;
  /** Whether other machines reach the router, which then has a certificate. */
  isExposed: boolean;
  /** Environment variables that all children get. */
  environment: Environment;
  /** Folder of the project. */
  root: string;
  /** Folder in which the cluster keeps its files. */
  folder: string;
  /** The workers to start in addition to the workers for engines. */
  plan: Plan;
  logs: LogRelay;
  /** Prints lines for the person who started the cluster. */
  say: (text: string) => void;
  /** Builds the console's pages if they are not built yet. Resolves with a sentence for the user if the build fails. */
  buildPages: (signal: AbortSignal) => Promise<string | undefined>;
  /** Aborts when the cluster must stop. */
  stop: AbortSignal;
  /** Aborts when the cluster must stop at once, without finishing answers. */
  kill: AbortSignal;
}

const defaultAdminPort = 8485;
const readyTimeoutMs = 30_000;
const workersTimeoutMs = 15_000;
const enginePollMs = 10_000;
const handoverPollMs = 1_000;
const serverStopTimeoutMs = 5_000;
/** Milliseconds that the ingress has after its `DRAIN_MS` until it is killed. */
const drainMarginMs = 2_000;

/**
 * Runs a whole cluster on this machine until `stop` aborts: NATS and Redis, workers for the local engines (or the demo engine), the workers
 * of the plan, the ingress and a batch runner. Then stops them in reverse order, so that running answers can finish.
 * @throws UpError if the cluster cannot start, or if a necessary component cannot be kept running
 * @throws ServerMissingError
 * @throws Error for other reasons why the cluster cannot start
 */
export async function up(options: UpOptions): Promise<void> {
  const releases = new Releases();
  const { stop, say } = options;
  stop.addEventListener('abort', () => say('\nStopping …'), { once: true });
  try {
    await runCluster(options, releases);
  } catch (error) {
    if (!stop.aborted) throw toFolderError(error, options.folder);
  } finally {
    for (const failure of await releases.releaseAll())
      options.logs.write('error', `${failure.message}: ${String(failure.cause)}`);
  }
  say('Stopped.');
}

async function runCluster(options: UpOptions, releases: Releases): Promise<void> {
  const { config, isExposed, environment, root, folder, plan, logs, say, buildPages, stop, kill } = options;
  await lockFolder(folder, releases);
  if (!isInstalledPackage(root)) lockPackages(root, folder, releases);
  await requireFreePort(config);

  const children = new Children(folder, logs);
  releases.add('children', () => children.close(serverStopTimeoutMs));
  kill.addEventListener('abort', () => children.killAll(), { once: true });
  const endSignal = AbortSignal.any([stop, children.failure]);
  const state = loadClusterState(folder);
  const ports = {
    admin: config.ADMIN_PORT ?? (await chooseFreePort(defaultAdminPort)),
    demo: await chooseFreePort(state.ports.demo),
  };
  state.ports.demo = ports.demo;
  const findLocal = () => findLocalEngines([config.PORT, ...Object.values(ports)]);
  const localEngines = findLocal();
  const pagesBuild = buildPages(endSignal);

  const makesCertificate = isExposed && config.TLS_FOLDER === undefined;
  const ownTlsFolder = join(folder, 'tls');
  if (makesCertificate) await prepareTlsFolder(ownTlsFolder, new Date());

  const supervise = (name: string, start: Parameters<Children['start']>[2]) => children.start(name, true, start);
  const servers = await startServers({ config, environment, folder, state, supervise, stop, releases, say });
  const { HOST: host, PORT: port, PUBLIC_URL: publicUrl } = config;
  saveClusterState(folder, { ...state, router: { host, port, publicUrl } });
  stop.throwIfAborted();

  const startService = (
    name: string,
    service: ServiceName,
    isNecessary: boolean,
    settings: Environment | (() => Promise<Environment>),
  ) =>
    children.start(name, isNecessary, async () => {
      const ownSettings = typeof settings === 'function' ? await settings() : settings;
      return spawnGuarded(process.execPath, [...serviceNodeFlags, findServiceProgram(root, service)], {
        env: {
          ...buildServiceEnvironment(service, environment, servers, config.RTR_PREFIX),
          ...ownSettings,
        },
      });
    });
  const baseUrl = toLocalUrl(config);
  const startDemo = async () => {
    const url = `http://127.0.0.1:${ports.demo}`;
    const settings = { HOST: '127.0.0.1', PORT: String(ports.demo) };
    const child = await startService('demo-engine', 'demo-engine', false, settings);
    // The worker starts after the demo engine is ready. A worker that finds no engine would pause for longer than the engine needs to
    // start.
    await waitUntilTrue(() => listsModels(url), readyTimeoutMs, endSignal);
    return { engine: { origin: 'demo engine', url }, child };
  };
  const engineWorkers = new EngineWorkers({
    namedEngines: listNamedEngines(config.ENGINE_URLS),
    findLocal,
    startWorker: ({ url }) => startService(`gpu-worker ${url}`, 'gpu-worker', false, { ENGINE_URL: url }),
    // The demo engine's invented answers are unwanted if another tier serves a real model.
    startDemo: plan.ready.some(({ tier }) => tier !== 'tools') ? undefined : startDemo,
    countServing: async () => (await readWorkers(baseUrl))?.gpu,
    say: (sentence) => logs.write('info', sentence),
  });
  releases.add('workers', () => engineWorkers.stop());
  const plannedWorkers = new PlannedWorkers(({ name, service, settings }) =>
    startService(name === 'tools' ? service : `${service} ${name}`, service, false, settings),
  );
  releases.add('planned workers', () => plannedWorkers.stop());

  // The ingress starts before the workers, because it takes longest to become ready. It stops before them, so that open answers can finish.
  const ingress = await startService('ingress', 'ingress', true, async () => {
    // Another program may have bound the port since it was chosen.
    ports.admin = config.ADMIN_PORT ?? (await chooseFreePort(ports.admin));
    return {
      PORT: String(config.PORT),
      HOST: config.HOST,
      ...(makesCertificate && { TLS_FOLDER: ownTlsFolder }),
      ADMIN_PORT: String(ports.admin),
      // No load balancer is in front of the ingress.
      LEAVE_MS: '0',
      DRAIN_MS: String(config.DRAIN_MS),
    };
  });
  releases.add('ingress', () => ingress.stop(config.DRAIN_MS + drainMarginMs));
  const [engines, keys] = await Promise.all([
    engineWorkers.start(await localEngines),
    setUpKeys(servers.redisUrl, config.RTR_PREFIX, say, readCertificates('REDIS_CA', config.REDIS_CA)),
    plannedWorkers.begin(plan.ready.filter(({ tier }) => tier !== 'tools')),
  ]);

  if (!(await waitUntilTrue(async () => (await readWorkers(baseUrl)) !== undefined, readyTimeoutMs, endSignal))) {
    throw new UpError(`The router did not become ready within ${readyTimeoutMs / 1000} s; the log above shows why.`);
  }
  const isServing = async () => {
    const { gpu, cli, cloud } = (await readWorkers(baseUrl)) ?? { gpu: 0, cli: 0, cloud: 0 };
    return gpu + cli + cloud > 0;
  };
  const hasServingWorker = await waitUntilTrue(isServing, workersTimeoutMs, endSignal);
  const buildProblem = await pagesBuild;
  if (buildProblem !== undefined) logs.write('warn', buildProblem);
  const metricsUrl = `http://127.0.0.1:${ports.admin}/metrics`;
  const consoleUrl = config.PUBLIC_URL ?? baseUrl;
  const { usesDemoEngine } = engineWorkers;
  say(
    formatStartSummary({
      baseUrl,
      consoleUrl,
      chatFormat: config.CHAT_FAMILY,
      metricsUrl,
      ...keys,
      engines,
      plan,
      usesDemoEngine,
      hasServingWorker,
    }),
  );
  if (isExposed) say(describeExposure(config, makesCertificate));

  // The tools and the batch runner start last, because they would take CPU time from the components that clients wait for.
  await plannedWorkers.begin(plan.ready.filter(({ tier }) => tier === 'tools'));
  const batchRunner = await startService('batch-runner', 'batch-runner', false, {});
  releases.add('batch runner', () => batchRunner.stop(serverStopTimeoutMs));
  for (;;) {
    const pauseMs = engineWorkers.isHandingOver ? handoverPollMs : enginePollMs;
    await sleep(pauseMs, undefined, { signal: endSignal }).catch(() => endSignal.throwIfAborted());
    await engineWorkers.poll();
  }
}

/** Locks the folder, so that no other process runs a cluster from it. Ends the processes that an earlier cluster left behind. */
async function lockFolder(folder: string, releases: Releases): Promise<void> {
  const lock = takeUpLock(folder);
  if ('holder' in lock) {
    throw new UpError(
      `A cluster runs in this folder already: stop it first, with Ctrl-C in its terminal or with kill ${lock.holder}.`,
    );
  }
  releases.add('lock', () => {
    lock.release();
  });
  await endLeftovers(folder);
}

/** Keeps the packages of a checkout from being replaced while the cluster runs on them. */
function lockPackages(root: string, folder: string, releases: Releases): void {
  const lock = takeLock(packagesLock(root, folder));
  if ('release' in lock) releases.add('lock of the packages', () => lock.release());
}

function takeUpLock(folder: string): ReturnType<typeof takeLock> {
  const file = join(folder, 'up.lock');
  try {
    return takeLock(file);
  } catch (error) {
    throw toFolderError(error, folder, file);
  }
}

async function requireFreePort({ PORT, HOST }: UpConfig): Promise<void> {
  const isFree = await isPortFree(PORT, HOST).catch((cause: unknown) => {
    throw new UpError(`The router cannot listen on HOST=${HOST}: ${String(cause)}`, { cause });
  });
  if (isFree) return;
  throw new UpError(
    `Port ${PORT} is taken by another program: stop that, or choose another port, as in PORT=${PORT + 1} ${findOwnCommand()} up.`,
  );
}

/**
 * Calls `check` every 50 ms until `check` returns true, for at most `timeoutMs`. Returns whether `check` has returned true.
 * @throws the signal's reason if the signal aborts
 */
async function waitUntilTrue(check: () => Promise<boolean>, timeoutMs: number, signal: AbortSignal): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    signal.throwIfAborted();
    if (await check()) return true;
    if (Date.now() > deadline) return false;
    await sleep(50);
  }
}
