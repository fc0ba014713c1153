import { describe, expect, it } from 'vitest';
import { faultNames, type FaultName } from './faults/fault-kinds.ts';
import { addOutcomes, type Outcomes } from './report/outcomes.ts';
import { outcomeTable } from './report/report.ts';
import { runChaos } from './run-chaos.ts';

const { CHAOS_SEED: wanted, CHAOS_SECONDS: duration, CHAOS_KINDS: kinds, CHAOS_LINES: lines } = process.env;
const seconds = Number(duration ?? 60);
const names = kinds === undefined ? faultNames : kinds.split(',').map(faultNamed);
const fresh = Date.now() % 1_000_000;

/** Fixed seeds find known faults again; a fresh one finds new faults. A run with a given duration is the only one. */
const fixed = duration === undefined ? [1, 2, 3, fresh] : [fresh];
const seeds = wanted === undefined ? fixed : [Number(wanted)];

// The option for lines is for the run of a batch.
describe.skipIf(lines !== undefined)('a cluster under load and faults', () => {
  const runs: Map<FaultName, Outcomes>[] = [];

  it.each(seeds)('keeps every promise with seed %i', { timeout: (seconds + 300) * 1_000 }, async (seed) => {
    const { violations, outcomes, requests, leftOut } = await runChaos({ seed, ms: seconds * 1_000, names });
    runs.push(outcomes);
    expect(violations).toEqual([]);
    expect(requests).toBeGreaterThan(seconds * 8);
    const rare = names.filter((name) => (outcomes.get(name)?.faults ?? 0) < Math.floor(seconds / 60));
    expect(rare.filter((name) => !leftOut.includes(name))).toEqual([]);
  });

  it.runIf(seeds.length > 1 && kinds === undefined)('meets 300 faults', () => {
    const all = addOutcomes(runs);
    process.stdout.write(`\nall seeds together\n${outcomeTable(all).join('\n')}\n\n`);
    const faults = [...all.values()].reduce((sum, one) => sum + one.faults, 0);
    expect(faults).toBeGreaterThanOrEqual(300);
  });
});

/** @throws Error for a name that no kind of fault has */
function faultNamed(kind: string): FaultName {
  const found = faultNames.find((name) => name === kind);
  if (!found) throw new Error(`There is no kind of fault named "${kind}"; there are ${faultNames.join(', ')}.`);
  return found;
}
