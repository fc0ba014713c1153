import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '#shared/core/load-config.ts';
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
  /** Password of the only user, `rtr`. If it is undefined, everyone on this machine may connect. */
  password?: string | undefined;
  /** Aborts when the server is to be stopped; the server is then returned at once, ready or not. */
  stop?: AbortSignal;
}

/**
 * Settings of Go's garbage collector in NATS. By default, Go collects when the heap has doubled. The heap of NATS has few megabytes, so it
 * doubles with every third body of 1 MiB. With these settings, Go collects when the heap has tripled, and more often above 256 MiB. A body
 * of 1 MiB then takes 1.8 ms of CPU time in NATS instead of 2.6 ms, and NATS uses 5 MiB more memory.
 */
const collectionSettings = { GOGC: '200', GOMEMLIMIT: '256MiB' };

/**
 * Starts nats-server (2.9 or newer) with JetStream on a port of the loopback interface. The password is in a file that only its owner
 * can read, because every user of a machine can read command lines.
 */
export function startNatsServer(options: NatsServerOptions): Promise<StartedServer> {
  const { program, folder, environment, wantedPort, password, stop } = options;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const configFile = join(folder, 'nats.conf');
  const serverName = `rtr-${randomBytes(6).toString('hex')}`;
  return startOnPort(
    {
      name: 'nats-server',
      start: (port) => {
        writeFileSync(configFile, createNatsConfig(port, serverName, folder, password), { mode: 0o600 });
        const env = { GOMAXPROCS: String(computeNatsCores()), ...collectionSettings, ...environment };
        return spawnGuarded(program, ['-c', configFile], { env });
      },
      isReady: async (port) =>
        (await queryPort({ host: '127.0.0.1', port }, '', /\r\n/))?.includes(`"server_name":"${serverName}"`) ?? false,
    },
    wantedPort,
    stop,
  );
}

/**
 * Computes the number of cores for NATS: half of the machine's, because the rest of the cluster shares the machine. With more cores, idle
 * threads of Go search for work. On a machine with two cores, this search takes a quarter of the server's CPU time.
 */
function computeNatsCores(): number {
  return Math.max(1, Math.floor(availableParallelism() / 2));
}

function createNatsConfig(port: number, serverName: string, folder: string, password: string | undefined): string {
  return [
    `listen: "127.0.0.1:${port}"`,
    `server_name: "${serverName}"`,
    'ping_interval: "10s"',
    'ping_max: 2',
    `jetstream { store_dir: ${JSON.stringify(join(folder, 'jetstream'))} }`,
    ...(password ? [`authorization { user: "rtr", password: "${password}" }`] : []),
    '',
  ].join('\n');
}
