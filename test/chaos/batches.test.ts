import { expect, it } from 'vitest';
import { runBatchChaos } from './batches/run-batch-chaos.ts';

const { CHAOS_SEED: wanted, CHAOS_LINES: size, CHAOS_SECONDS: seconds, CHAOS_KINDS: kinds } = process.env;
const lines = Number(size ?? 50_000);
const seed = Number(wanted ?? Date.now() % 1_000_000);

// The options for a duration and for kinds of faults are for the load of requests.
it.skipIf(seconds !== undefined || kinds !== undefined)(
  'a batch whose components are killed at random has every line and every charge once',
  { timeout: 600_000 + lines * 10 },
  async () => {
    const { violations, struck } = await runBatchChaos({ seed, lines, lineMs: 0 });
    expect(violations).toEqual([]);
    expect(struck.length).toBeGreaterThan(lines / 5_000);
  },
);
