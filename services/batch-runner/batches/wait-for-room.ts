import type { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import { LaterError } from '#shared/background/background-worker.ts';
import { RouterError } from '#shared/core/errors.ts';

/** Milliseconds until it is looked again whether there is room. */
const againMs = 30_000;

/**
 * Does what stores objects. While the store is full, the batch says so, and it is done again later.
 * @throws LaterError while the store is full, or as `store` does
 */
export async function waitForRoom<T>(
  { work }: { work: Pick<BatchWork, 'pause'> },
  batch: string,
  store: () => Promise<T>,
): Promise<T> {
  try {
    return await store();
  } catch (error) {
    if (!(error instanceof RouterError) || error.code !== 'storage_full') throw error;
    await work.pause(batch, { until: Date.now() + againMs, reason: error.message });
    throw new LaterError(againMs);
  }
}
