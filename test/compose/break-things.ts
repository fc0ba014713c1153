import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { docker } from './run-command.ts';
import { tell } from './tell.ts';
import { Traffic, type Ending, type Outcome } from './traffic.ts';

/** Milliseconds within which everything is as before, whatever was done to the cluster. */
const normalMs = 45_000;

/** Milliseconds in a row without trouble that count as normal. */
const rowMs = 3_000;

/** Ends a container at once, as a crash does, and starts it again after a while. */
export async function crash(container: string, awayMs: number): Promise<void> {
  await docker('kill', container);
  await sleep(awayMs);
  await docker('start', container);
}

/** Stops a container in good order, as it must be able to within its time, and starts it again. */
export async function restart(container: string): Promise<void> {
  await docker('stop', '--time', '40', container);
  expect((await docker('inspect', '--format', '{{.State.ExitCode}}', container)).trim()).toBe('0');
  await docker('start', container);
}

/** How many of these requests ended so. */
export function count(outcomes: readonly Outcome[], ...endings: Ending[]): number {
  return outcomes.filter(({ ending }) => endings.includes(ending)).length;
}

/**
 * Lets eight clients ask for streams, does something to the cluster, and looks at every answer until all is normal again:
 * none may be silently wrong.
 * @returns how the requests ended that ended after it was begun
 */
export async function whileTrafficRuns(
  what: string,
  where: { url: string; key: string },
  does: () => Promise<unknown>,
): Promise<Outcome[]> {
  const traffic = new Traffic({ ...where, clients: 8 });
  try {
    await traffic.untilWhole(500, normalMs);
    const began = performance.now();
    await does();
    await traffic.untilWhole(rowMs, normalMs);
    const outcomes = (await traffic.stop()).filter(({ ended }) => ended >= began);
    const told = (['whole', 'told', 'refused', 'cut', 'silent'] as const).map(
      (ending) => `${count(outcomes, ending)} ${ending}`,
    );
    const troubleMs = Math.max(0, traffic.lastTrouble - began);
    tell(`${what}: ${told.join(', ')}; normal after ${(troubleMs / 1000).toFixed(1)} s`);
    expect(outcomes.filter(({ ending }) => ending === 'silent')).toEqual([]);
    return outcomes;
  } finally {
    await traffic.stop();
  }
}
