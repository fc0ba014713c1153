import type { Environment } from '#shared/core/load-config.ts';
import type { UpConfig } from '../../config.ts';
import { queryPort } from './query-port.ts';
import { toLocalNatsUrl, toLocalRedisUrl, type ClusterState } from '../cluster-state.ts';
import { ensureServer } from './install-server.ts';
import { stopChild } from '../children/child.ts';
import { startNatsServer } from './start-nats-server.ts';
import type { StartedServer } from './start-on-port.ts';
import { startRedisServer } from './start-redis-server.ts';
import type { SupervisedChild, SupervisionOptions } from '../children/supervised-child.ts';
import { UpError } from '../up-error.ts';

/** Starts a program and keeps it running. If it cannot be kept running, the cluster ends. */
export type Supervise = (name: string, start: SupervisionOptions['start']) => Promise<SupervisedChild>;

export interface ServersOptions {
  config: UpConfig;
  environment: Environment;
  /** Folder in which the servers keep their data. */
  folder: string;
  /** State of the cluster. `startServers` updates the ports in it. */
  state: ClusterState;
  supervise: Supervise;
  /** Aborts when the cluster must stop. */
  stop: AbortSignal;
  say: (line: string) => void;
}

export interface Servers {
  natsUrl: string;
  redisUrl: string;
  children: SupervisedChild[];
}

const serverStopTimeoutMs = 5_000;

/**
 * Starts NATS and Redis as child processes. Does not start a server if the settings contain its address. A restarted server keeps its port,
 * because all components connect to that port.
 * @throws ServerMissingError
 * @throws UpError
 * @throws Error if a server does not start
 */
export async function startServers(options: ServersOptions): Promise<Servers> {
  const { config, environment, folder, state, supervise, stop, say } = options;
  const children: SupervisedChild[] = [];
  if (config.NATS_URL) await requireNats(config.NATS_URL);
  // The programs are installed one after the other, because two runs of the package manager would lock each other out.
  const natsProgram = config.NATS_URL ? undefined : await ensureServer('nats', environment, say);
  const redisProgram = config.REDIS_URL ? undefined : await ensureServer('redis', environment, say);

  const startSupervised = async (
    name: 'nats' | 'redis',
    start: (settings: { wantedPort: number | undefined; stop: AbortSignal }) => Promise<StartedServer>,
  ) => {
    let port: number | undefined;
    const child = await supervise(name, async (stopServer) => {
      const started = await start({
        wantedPort: port ?? state.ports[name],
        stop: AbortSignal.any([stop, stopServer]),
      });
      if (port !== undefined && started.port !== port) {
        await stopChild(started.child, serverStopTimeoutMs);
        throw new Error(`port ${port} was taken by another program`);
      }
      port = started.port;
      return started.child;
    });
    children.push(child);
    state.ports[name] = port;
  };
  const starts: Promise<void>[] = [];
  if (natsProgram) {
    const server = { program: natsProgram, folder: `${folder}/nats`, environment, password: state.natsPassword };
    starts.push(startSupervised('nats', (settings) => startNatsServer({ ...server, ...settings })));
  }
  if (redisProgram) {
    const server = { program: redisProgram, folder: `${folder}/redis`, password: state.redisPassword };
    starts.push(startSupervised('redis', (settings) => startRedisServer({ ...server, ...settings })));
  }
  const failure = (await Promise.allSettled(starts)).find((result) => result.status === 'rejected');
  if (failure) {
    await Promise.all(children.map((child) => child.stop(serverStopTimeoutMs)));
    throw failure.reason;
  }
  return {
    natsUrl: config.NATS_URL ?? toLocalNatsUrl(state, state.ports.nats ?? 0),
    redisUrl: config.REDIS_URL ?? toLocalRedisUrl(state, state.ports.redis ?? 0),
    children,
  };
}

async function requireNats(urls: string): Promise<void> {
  const { hostname, port, host } = new URL(urls.split(',')[0] ?? urls);
  const greeting = await queryPort({ host: hostname, port: Number(port || 4222) }, '', /^INFO /, 3_000);
  if (greeting === undefined) throw new UpError(`NATS does not answer at ${host} (NATS_URL).`);
}
