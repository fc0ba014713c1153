import { describe, expect, it } from 'vitest';
import { faultNames } from './faults/fault-kinds.ts';
import { runChaos } from './run-chaos.ts';

const wanted = process.env['CHAOS_SEED'];
const seconds = Number(process.env['CHAOS_SECONDS'] ?? 60);

/** Fixed seeds find again what was found once; a fresh one finds what is new. */
const seeds = wanted === undefined ? [1, 2, 3, Date.now() % 1_000_000] : [Number(wanted)];

describe('a cluster under load and faults', () => {
  it.each(seeds)('breaks no promise with seed %i', { timeout: (seconds + 240) * 1_000 }, async (seed) => {
    const { violations, outcomes, requests } = await runChaos({ seed, ms: seconds * 1_000 });
    expect(violations).toEqual([]);
    expect(requests).toBeGreaterThan(seconds * 8);
    const rare = faultNames.filter((name) => (outcomes.get(name)?.faults ?? 0) < Math.floor(seconds / 30));
    expect(rare).toEqual([]);
  });
});
