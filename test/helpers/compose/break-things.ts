import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { docker } from './run-command.ts';
import { report } from './report.ts';
import { Traffic, type Ending, type Outcome } from './traffic.ts';

/** Milliseconds within which the cluster serves normally again after any fault. */
const normalMs = 45_000;

/** Consecutive milliseconds without a failed request that count as normal. */
const rowMs = 3_000;

/** Kills a container, as a crash does, and starts it again after a while. */
export async function crash(container: string, awayMs: number): Promise<void> {
  await docker('kill', container);
  await sleep(awayMs);
  await docker('start', container);
}

/** Stops a container regularly, within its grace period, and starts it again. */
export async function restart(container: string): Promise<void> {
  await docker('stop', '--time', '40', container);
  expect((await docker('inspect', '--format', '{{.State.ExitCode}}', container)).trim()).toBe('0');
  await docker('start', container);
}

/** Counts the requests that ended in one of these ways. */
export function count(outcomes: readonly Outcome[], ...endings: Ending[]): number {
  return outcomes.filter(({ ending }) => endings.includes(ending)).length;
}

/**
 * Makes eight clients request streams, injects a fault, and checks every answer until the cluster serves normally again: none may be
 * silently wrong.
 * @returns the outcomes of the requests that ended after the fault began
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
    const counts = (['whole', 'failed', 'refused', 'cut', 'silent'] as const).map(
      (ending) => `${count(outcomes, ending)} ${ending}`,
    );
    const troubleMs = Math.max(0, traffic.lastTrouble - began);
    report(`${what}: ${counts.join(', ')}; normal after ${(troubleMs / 1000).toFixed(1)} s`);
    expect(outcomes.filter(({ ending }) => ending === 'silent')).toEqual([]);
    return outcomes;
  } finally {
    await traffic.stop();
  }
}
