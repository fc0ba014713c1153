import type { BatchProblem, BatchRecord } from '#shared/accounts/batches/batch-record.ts';
import { createEndingJob } from '#shared/background/batch-jobs.ts';
import type { BatchDependencies } from './batch-dependencies.ts';

/**
 * Moves a batch that cannot be processed to the state `failed`, with its problems, and adds the job that ends it. Does nothing if the batch
 * has left the state that the caller has seen.
 */
export async function failBatch(
  { batches, jobs, log }: Pick<BatchDependencies, 'batches' | 'jobs' | 'log'>,
  { id, state }: Pick<BatchRecord, 'id' | 'state'>,
  problems: readonly BatchProblem[],
): Promise<void> {
  const fields = { problems: [...problems] };
  if (!(await batches.move(id, { from: state, to: 'failed', fields, timed: 'failedAt' }))) return;
  log.info({ batch: id, problems: problems.length }, 'a batch has failed');
  await jobs.add(createEndingJob(id));
}
