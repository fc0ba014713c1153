import { writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { findFreePort } from '#services/rtr/up/servers/free-port.ts';
import { ensureServers } from '#services/rtr/up/servers/install-server.ts';
import { type Child, isRunning, killGroup, spawnGuarded, stopChild } from '#services/rtr/up/children/child.ts';
import { until } from '../until.ts';

/**
 * Starts redis-server in a folder and waits until it listens.
 * @param settings settings by its free port; a sentinel writes into its own file, so its settings are lines of that file
 * @param enter a command with arguments that starts the program, which is appended to it
 */
export async function startRedisProgram(
  folder: string,
  settings: (port: number) => string[],
  sentinel?: (port: number) => string[],
  enter: readonly string[] = [],
) {
  const { redis: program } = await ensureServers(['redis'], process.env, (line) => console.info(line));
  const port = await findFreePort();
  const file = join(folder, `redis-${port}.conf`);
  if (sentinel) writeFileSync(file, `${sentinel(port).join('\n')}\n`);
  const args = sentinel ? [file, '--sentinel'] : ['--bind', '127.0.0.1', '--dir', folder, ...settings(port)];
  const [command, ...before] = [...enter, program];
  const start = (): Child => {
    const started = spawnGuarded(command, [...before, ...args], { env: process.env });
    // A program whose log pipe is full waits for a reader.
    for (const log of [started.stdout, started.stderr]) log.resume();
    return started;
  };
  let child = start();
  await until(() => isListening(port));
  return {
    port,
    /** The running process, or the last one. */
    get child() {
      return child;
    },
    /** Starts it again after its end, on the same port, with its data. */
    restart: async () => {
      child = start();
      await until(() => isListening(port));
    },
    kill: async () => {
      if (!isRunning(child)) return;
      const gone = once(child, 'exit');
      killGroup(child);
      await gone;
    },
    stop: () => stopChild(child, 5_000),
  };
}

/** A redis-server that a test configures itself. */
export type RedisProgram = Awaited<ReturnType<typeof startRedisProgram>>;

function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  }).then((listens) => {
    socket.destroy();
    return listens === true;
  });
}
