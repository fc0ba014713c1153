import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import type { Environment } from '#shared/core/load-config.ts';
import { chooseFreePort } from './free-port.ts';
import { queryPort } from './query-port.ts';
import { spawnGuarded } from '../children/child.ts';
import { startOnPort, type StartedServer } from './start-on-port.ts';

export interface NatsServerOptions {
  program: string;
  /** Folder for the server's configuration and JetStream's files. */
  folder: string;
  environment: Environment;
  /** The port of the last start, which is used if it is free. */
  wantedPort?: number | undefined;
  /**
   * The accepted credentials, as `rtr credentials` writes them, and the WebSocket port of the last start. If it is undefined, everyone on
   * this machine may connect, and the server has no WebSocket port.
   */
  access?: { configFile: string; wantedWebSocketPort: number | undefined } | undefined;
  /** Aborts when the server is to be stopped; the server is then returned at once, ready or not. */
  stop?: AbortSignal;
}

/**
 * Settings of Go's garbage collector in NATS. By default, Go collects when the heap has doubled. The heap of NATS has few megabytes, so it
 * doubles with every third body of 1 MiB. With these settings, Go collects when the heap has tripled, and more often above 256 MiB. A body
 * of 1 MiB then takes 1.8 ms of CPU time in NATS instead of 2.6 ms, and NATS uses 5 MiB more memory.
 */
const collectionSettings = { GOGC: '200', GOMEMLIMIT: '256MiB' };

export interface StartedNatsServer extends StartedServer {
  /** The port for WebSocket connections without TLS; undefined without `access`. */
  webSocketPort: number | undefined;
}

/** Returns the folder in which JetStream keeps a folder for each account. */
export function accountsFolder(folder: string): string {
  return join(storeFolder(folder), 'jetstream');
}

const storeFolder = (folder: string): string => join(folder, 'jetstream');

/** Starts nats-server (2.9 or newer) with JetStream on ports of the loopback interface. */
export async function startNatsServer(options: NatsServerOptions): Promise<StartedNatsServer> {
  const { program, folder, environment, wantedPort, access, stop } = options;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, 'nats.conf');
  const serverName = `rtr-${randomBytes(6).toString('hex')}`;
  let webSocketPort: number | undefined;
  const started = await startOnPort(
    {
      name: 'nats-server',
      start: async (port) => {
        if (access) webSocketPort = await chooseFreePort(webSocketPort ?? access.wantedWebSocketPort);
        const accessLines = access ? listAccessLines(relative(folder, access.configFile), webSocketPort) : [];
        writeFileSync(file, createNatsConfig(port, serverName, folder, accessLines), { mode: 0o600 });
        const env = { GOMAXPROCS: String(computeNatsCores()), ...collectionSettings, ...environment };
        return spawnGuarded(program, ['-c', file], { env });
      },
      isReady: async (port) =>
        (await queryPort({ host: '127.0.0.1', port }, '', /\r\n/))?.includes(`"server_name":"${serverName}"`) ?? false,
    },
    wantedPort,
    stop,
  );
  return { ...started, webSocketPort };
}

/**
 * Computes the number of cores for NATS: half of the machine's, because the rest of the cluster shares the machine. With more cores, idle
 * threads of Go search for work. On a machine with two cores, this search takes a quarter of the server's CPU time.
 */
function computeNatsCores(): number {
  return Math.max(1, Math.floor(availableParallelism() / 2));
}

function createNatsConfig(port: number, serverName: string, folder: string, accessLines: readonly string[]): string {
  return [
    `listen: "127.0.0.1:${port}"`,
    `server_name: "${serverName}"`,
    'ping_interval: "10s"',
    'ping_max: 2',
    `jetstream { store_dir: ${JSON.stringify(storeFolder(folder))} }`,
    ...accessLines,
    '',
  ].join('\n');
}

/**
 * Lists the lines for a server that accepts only credentials. Workers of other machines may have one, so the lines bound what a worker can
 * cost: a connection with 200 subscriptions takes 250 KiB.
 * @param includedFile path of the accepted credentials, relative to the configuration, because the server accepts no absolute path there
 */
function listAccessLines(includedFile: string, webSocketPort: number | undefined): string[] {
  return [
    'max_connections: 1000',
    'max_subscriptions: 200',
    `websocket { listen: "127.0.0.1:${webSocketPort}", no_tls: true }`,
    `include ${JSON.stringify(includedFile)}`,
  ];
}
