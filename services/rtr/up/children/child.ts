import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { Environment } from '#shared/core/load-config.ts';
import { once } from 'node:events';

export type Child = ChildProcessByStdio<null, Readable, Readable>;

/**
 * Shell script of the guard process. The script waits for the end of its standard input, which the kernel closes when the parent ends for
 * any reason, including `kill -9`. Then the script ends the program's process group: SIGTERM, a wait of up to 10 s, SIGKILL. The signal is
 * named with `-s`, because otherwise Debian's shell accepts no process group.
 */
const guardScript = `
while read -r _; do :; done
kill -s TERM -- "-$1" 2>/dev/null || exit 0
tries=0
while [ $tries -lt 100 ] && kill -s 0 -- "-$1" 2>/dev/null; do sleep 0.1; tries=$((tries + 1)); done
kill -s KILL -- "-$1" 2>/dev/null
exit 0
`;

/**
 * Starts a program in its own process group, so a Ctrl-C in the terminal reaches only this process, which stops its children in order. A
 * guard process ends the program when this process ends. Processes that the program has started are killed when the program ends. If the
 * program or its guard cannot be started, the child emits `error` and does not run.
 */
export function spawnGuarded(command: string, args: readonly string[], options: { env?: Environment } = {}): Child {
  const child = spawn(command, args, { ...options, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  if (child.pid === undefined) return child;
  const guard = spawn('/bin/sh', ['-c', guardScript, 'guard', String(child.pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.unref();
  guard.on('error', (error) => {
    child.prependOnceListener('exit', () => child.emit('error', error));
    killGroup(child);
  });
  child.once('exit', () => {
    guard.kill('SIGKILL');
    killGroup(child);
  });
  return child;
}

/** Kills a program's whole process group (SIGKILL). */
export function killGroup({ pid }: Child): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // The group has ended.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

export function isRunning(child: Child): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

/** Ends a program: SIGTERM, and after `timeoutMs` SIGKILL for its whole process group. Resolves when the program has ended. */
export async function stopChild(child: Child, timeoutMs: number): Promise<void> {
  if (!isRunning(child)) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => killGroup(child), timeoutMs);
  await ended;
  clearTimeout(timer);
}

/** Maximum number of characters of output to keep. */
const keptCharacters = 4_000;

/**
 * Reads a program's outputs, so that the program never blocks on a full pipe, and keeps their last lines.
 * @returns a function that returns the last lines, at most 20
 */
export function collectLastLines(child: Child): () => string[] {
  let tail = '';
  const append = (text: string) => (tail = (tail + text).slice(-keptCharacters));
  child.stdout.setEncoding('utf8').on('data', append);
  child.stderr.setEncoding('utf8').on('data', append);
  child.on('error', (error) => append(error.message));
  return () => tail.trim().split('\n').slice(-20);
}
