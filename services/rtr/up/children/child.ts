import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { Environment } from '#shared/core/load-config.ts';
import { once } from 'node:events';

/** A running program of ours, with its two outputs. */
export type Child = ChildProcessByStdio<null, Readable, Readable>;

/**
 * Waits for the end of its standard input, which the kernel closes when our process ends in whatever way, `kill -9`
 * included. Then it ends the program's process group: asks, waits up to 10 s, forces. (Debian's shell takes the number of
 * a group only when the signal is given with -s.)
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
 * Starts a program in a process group of its own, so that a Ctrl-C in the terminal reaches only us and we stop our
 * children in order. The program cannot outlive us: a guard process ends it should we die without doing so. What the
 * program itself has started cannot outlive the program.
 * A program that cannot be started shows as the child's `error` event.
 */
export function spawnGuarded(command: string, args: readonly string[], options: { env?: Environment } = {}): Child {
  const child = spawn(command, args, { ...options, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  if (child.pid === undefined) return child;
  const guard = spawn('/bin/sh', ['-c', guardScript, 'guard', String(child.pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.unref();
  guard.on('error', (error) => child.emit('error', error));
  child.once('exit', () => {
    guard.kill('SIGKILL');
    killGroup(child);
  });
  return child;
}

/** Ends a program's whole process group by force. */
export function killGroup({ pid }: Child): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // Nobody of it is left.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** Whether the program still runs. */
export function isRunning(child: Child): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

/**
 * Asks a program to end (SIGTERM) and waits for it; after `patienceMs` it ends its whole process group by force.
 * Returns when the program is gone.
 */
export async function stopChild(child: Child, patienceMs: number): Promise<void> {
  if (!isRunning(child)) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const force = setTimeout(() => killGroup(child), patienceMs);
  await gone;
  clearTimeout(force);
}

const keptCharacters = 4_000;

/**
 * Reads a program's outputs for as long as it runs, so that it never blocks on a full pipe, and keeps the end of them:
 * the returned function gives the last 20 lines at most.
 */
export function collectLastLines(child: Child): () => string[] {
  let tail = '';
  const keep = (text: string) => (tail = (tail + text).slice(-keptCharacters));
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  child.once('error', (error) => keep(error.message));
  return () => tail.trim().split('\n').slice(-20);
}
