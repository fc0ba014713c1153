import { expect, it } from 'vitest';
import { computeRetryDelay } from '#services/batch-runner/deliver-due.ts';

const dayMs = 24 * 3_600_000;

/** Returns the times at which a message that always fails is tried, in milliseconds since the first try. */
function timesOf(random: () => number): number[] {
  const times = [0];
  for (;;) {
    const elapsedMs = times.at(-1) ?? 0;
    const delay = computeRetryDelay({ attempts: times.length, elapsedMs }, random);
    if (delay === undefined) return times;
    times.push(elapsedMs + delay);
  }
}

it('retryDelay has the first retries within two minutes, and the last one when a day has passed', () => {
  const times = timesOf(() => 0.5);
  expect(times.slice(0, 4)).toEqual([0, 5_000, 25_000, 105_000]);
  expect(times.at(-1)).toBe(dayMs);
  expect(times).toHaveLength(11);
});

it('retryDelay spreads retries by a fifth, and never beyond the day', () => {
  expect(computeRetryDelay({ attempts: 1, elapsedMs: 0 }, () => 0)).toBe(4_000);
  expect(computeRetryDelay({ attempts: 1, elapsedMs: 0 }, () => 1)).toBe(6_000);
  expect(timesOf(() => 1).at(-1)).toBe(dayMs);
  expect(computeRetryDelay({ attempts: 40, elapsedMs: dayMs - 7 }, () => 1)).toBe(7);
  expect(computeRetryDelay({ attempts: 2, elapsedMs: dayMs })).toBeUndefined();
});
