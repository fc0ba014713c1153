import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

/** A command as a Redis server executed it: name and arguments. */
export type RedisCommand = readonly string[];

/**
 * Observes the commands that a Redis server executes, with `MONITOR`. Settles when the server has begun to report them. (`ioredis` takes a
 * command that arrives in one piece with the reply to `MONITOR` for an unexpected reply, and fails.)
 */
export async function watchRedisCommands(
  url: string,
  onCommand: (command: RedisCommand, isOfScript: boolean) => void,
): Promise<{ stop(): void }> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, 'connect');
  const lines = createInterface({ input: socket });
  socket.write('MONITOR\r\n');
  const [answer] = await once(lines, 'line');
  if (answer !== '+OK') throw new Error(`Redis answered MONITOR with ${answer}.`);
  lines.on('line', (line) => {
    const [, source, quoted = ''] = /^\+[\d.]+ \[\d+ (\S+)\] (.*)$/.exec(line) ?? [];
    const command = [...quoted.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, arg = '']) => arg);
    onCommand(command, source === 'lua');
  });
  return { stop: () => socket.destroy() };
}
