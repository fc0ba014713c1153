import { expect, it } from 'vitest';
import { batchFaults } from '../../chaos/faults/fault-kinds.ts';
import { runBatchChaos } from '../../chaos/batches/run-batch-chaos.ts';

it('a batch whose runners, workers, ingress, NATS and Redis are killed at random has every line and charge once', async () => {
  const { violations, struck } = await runBatchChaos({ seed: 2, lines: 1_500, lineMs: 600 });
  expect(violations).toEqual([]);
  expect(new Set(struck.map(({ fault }) => fault.name))).toEqual(new Set(batchFaults));
});
