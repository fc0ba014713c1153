import { join } from 'node:path';
import { getAccountKey } from '#shared/broker/authority/authority.ts';
import { serverConfigFile } from '#shared/broker/authority/authority-folder.ts';
import { ensureAuthority } from '#shared/broker/authority/own-credentials.ts';
import type { Environment } from '#shared/core/load-config.ts';
import type { Releases } from '#shared/core/release.ts';
import type { UpConfig } from '../../config.ts';
import { type Child, stopChild } from '../children/child.ts';
import type { SupervisedChild, SupervisionOptions } from '../children/supervised-child.ts';
import { credentialsFolder, toLocalNatsUrl, toLocalRedisUrl, type ClusterState } from '../cluster-state.ts';
import { UpError } from '../up-error.ts';
import { leaveAccountFolder, takeAccountFolder } from './account-folder.ts';
import type { ServerKind } from './find-server.ts';
import { followServerConfig } from './follow-server-config.ts';
import { ensureServers } from './install-server.ts';
import { queryPort } from './query-port.ts';
import { accountsFolder, startNatsServer, type StartedNatsServer } from './start-nats-server.ts';
import { startRedisServer } from './start-redis-server.ts';

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
  /** Gets the releases that stop the servers. */
  releases: Releases;
  say: (line: string) => void;
}

export interface Servers {
  natsUrl: string;
  redisUrl: string;
  /** Access to the NATS server that was started; undefined if the settings contain an address of NATS. */
  natsAccess: NatsAccess | undefined;
}

export interface NatsAccess {
  /** Folder of the authority whose credentials NATS accepts, and of the cluster's own credentials. */
  folder: string;
  /** Address of NATS for WebSocket connections. */
  webSocketUrl: string;
}

interface StartedPorts {
  child: Child;
  ports: Ports;
}

type Ports = Pick<ClusterState['ports'], 'nats' | 'natsWebSocket' | 'redis'>;

const serverStopTimeoutMs = 5_000;

/**
 * Starts NATS and Redis as child processes. Does not start a server if the settings contain its address. A restarted server keeps its ports,
 * because all components connect to them. NATS accepts only the credentials of an authority, which the first start creates.
 * @throws ServerMissingError
 * @throws ConfigError if the authority is damaged, or belongs to a cluster with another prefix
 * @throws UpError
 * @throws Error if a server does not start
 */
export async function startServers(options: ServersOptions): Promise<Servers> {
  const { config, environment, folder, state, supervise, stop, releases, say } = options;
  if (config.NATS_URL) await requireNats(config.NATS_URL);
  const needed = (['nats', 'redis'] as const).filter((kind) => !(kind === 'nats' ? config.NATS_URL : config.REDIS_URL));
  const { nats: natsProgram, redis: redisProgram }: Partial<Record<ServerKind, string>> = await ensureServers(
    needed,
    environment,
    say,
  );

  const startSupervised = async (name: string, start: (wanted: Ports, stop: AbortSignal) => Promise<StartedPorts>) => {
    let keptPorts: Ports | undefined;
    const child = await supervise(name, async (stopServer) => {
      const started = await start({ ...state.ports, ...keptPorts }, AbortSignal.any([stop, stopServer]));
      const lost = Object.entries(keptPorts ?? {}).find(([key, port]) => started.ports[key as keyof Ports] !== port);
      if (lost) {
        await stopChild(started.child, serverStopTimeoutMs);
        throw new Error(`port ${lost[1]} was taken by another program`);
      }
      keptPorts = started.ports;
      return started.child;
    });
    releases.add(name, () => child.stop(serverStopTimeoutMs));
    Object.assign(state.ports, keptPorts);
  };
  const startNats = async (program: string): Promise<void> => {
    const server = { program, folder: join(folder, 'nats'), environment };
    const credentials = credentialsFolder(folder);
    const account = getAccountKey(await ensureAuthority(credentials, config.RTR_PREFIX));
    takeAccountFolder(accountsFolder(server.folder), account);
    releases.add('account folder', () => leaveAccountFolder(accountsFolder(server.folder), account));
    let started: Promise<StartedNatsServer> | undefined;
    // A signal before the server is ready would end it. At its start, it reads the configuration anyway.
    const reload = (): void => void started?.then(({ child }) => child.kill('SIGHUP')).catch(() => undefined);
    releases.add('server configuration', followServerConfig(credentials, reload));
    await startSupervised('nats', async ({ nats: wantedPort, natsWebSocket }, stop) => {
      const access = { configFile: serverConfigFile(credentials), wantedWebSocketPort: natsWebSocket };
      started = startNatsServer({ ...server, wantedPort, access, stop });
      const { port, webSocketPort, child } = await started;
      return { child, ports: { nats: port, natsWebSocket: webSocketPort } };
    });
  };
  const startRedis = (program: string): Promise<void> =>
    startSupervised('redis', async ({ redis: wantedPort }, stop) => {
      const server = { program, folder: join(folder, 'redis'), password: state.redisPassword };
      const { port, child } = await startRedisServer({ ...server, wantedPort, stop });
      return { child, ports: { redis: port } };
    });
  // Redis begins first, because the first start of NATS computes keys before it waits.
  const starts: Promise<void>[] = [];
  if (redisProgram) starts.push(startRedis(redisProgram));
  if (natsProgram) starts.push(startNats(natsProgram));
  const failure = (await Promise.allSettled(starts)).find((result) => result.status === 'rejected');
  if (failure) throw failure.reason;
  const { nats, natsWebSocket, redis } = state.ports;
  return {
    natsUrl: config.NATS_URL ?? toLocalNatsUrl(state, nats ?? 0),
    redisUrl: config.REDIS_URL ?? toLocalRedisUrl(state, redis ?? 0),
    natsAccess: natsProgram
      ? { folder: credentialsFolder(folder), webSocketUrl: `ws://127.0.0.1:${natsWebSocket}` }
      : undefined,
  };
}

async function requireNats(urls: string): Promise<void> {
  const { hostname, port, host } = new URL(urls.split(',')[0] ?? urls);
  const greeting = await queryPort({ host: hostname, port: Number(port || 4222) }, '', /^INFO /, 3_000);
  if (greeting === undefined) throw new UpError(`NATS does not answer at ${host} (NATS_URL).`);
}
