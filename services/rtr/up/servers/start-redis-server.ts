import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { queryPort } from './query-port.ts';
import { spawnGuarded } from '../children/child.ts';
import { startOnPort, type StartedServer } from './start-on-port.ts';

export interface RedisServerOptions {
  program: string;
  /** Folder for the server's configuration and the append-only files. */
  folder: string;
  /** The port of the last start, which is used if it is free. */
  wantedPort?: number | undefined;
  /** If the password is undefined, everyone on this machine may connect. */
  password?: string | undefined;
  /** Aborts when the server is to be stopped; the server is then returned at once, ready or not. */
  stop?: AbortSignal;
}

/**
 * Starts Redis on a port of the loopback interface, with the append-only file on. A power failure loses at most the writes of the last
 * second; a regular stop loses none.
 */
export function startRedisServer({
  program,
  folder,
  wantedPort,
  password,
  stop,
}: RedisServerOptions): Promise<StartedServer> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const configFile = join(folder, 'redis.conf');
  const login = password ? `AUTH ${password}\r\n` : '';
  return startOnPort(
    {
      name: 'Redis',
      start: (port) => {
        writeFileSync(configFile, createRedisConfig(port, folder, password), { mode: 0o600 });
        return spawnGuarded(program, [configFile]);
      },
      // PONG means that the data is loaded. The process id shows whether this server answers, and not another Redis.
      isReady: async (port, child) => {
        const answer = await queryPort(
          { host: '127.0.0.1', port },
          `${login}INFO server\r\nPING\r\n`,
          /(\+PONG|-LOADING.*|-NOAUTH.*)\r\n$/,
        );
        return answer !== undefined && answer.endsWith('+PONG\r\n') && answer.includes(`process_id:${child.pid}\r\n`);
      },
    },
    wantedPort,
    stop,
  );
}

function createRedisConfig(port: number, folder: string, password: string | undefined): string {
  return [
    'bind 127.0.0.1',
    `port ${port}`,
    `dir ${JSON.stringify(folder)}`,
    'daemonize no',
    'appendonly yes',
    'appendfsync everysec',
    ...(password ? [`requirepass ${password}`] : []),
    '',
  ].join('\n');
}
