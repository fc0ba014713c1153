import { once } from 'node:events';
import type { Child } from './spawn-guarded.ts';

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
  const force = setTimeout(() => killChild(child), patienceMs);
  await gone;
  clearTimeout(force);
}

/** Ends a program and what it started by force (SIGKILL to its process group). */
export function killChild(child: Child): void {
  if (child.pid === undefined || !isRunning(child)) return;
  process.kill(-child.pid, 'SIGKILL');
}
