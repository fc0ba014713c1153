import { expect, it } from 'vitest';
import { BatchWatch } from '#services/batch-runner/batches/batch-watch.ts';
import { openBatch } from '../../../helpers/batches/open-batch.ts';
import { stopAfterTest } from '../../../helpers/stop-after-test.ts';
import { until } from '../../../helpers/until.ts';

it('a batch with a running line soon loses its mark for a missing worker', async () => {
  const { id, work, found } = await openBatch();
  let runs = false;
  stopAfterTest(new BatchWatch({ batches: work, runningLines: { has: () => runs } }, await found()));
  await work.setPause(id, {
    until: Date.now() + 60_000,
    reason: 'No worker.',
    pausesAllLines: false,
    lacksWorker: true,
  });
  expect(await found()).toMatchObject({ pausedFor: 'No worker.', lacksWorker: true });
  runs = true;
  await until(async () => (await found()).pausedFor === undefined);
  expect(await found()).not.toHaveProperty('lacksWorker');
});
