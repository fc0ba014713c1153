import { once } from 'node:events';
import { killGroup, type Child } from './child.ts';

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
