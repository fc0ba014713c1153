import type { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import { RunLaterError } from '#shared/background/background-worker.ts';
import { RouterError, type ErrorCode } from '#shared/core/errors.ts';

/** Milliseconds until the next check for room. */
const checkMs = 30_000;

const noRoomCodes: ReadonlySet<ErrorCode> = new Set(['storage_full', 'storage_quota_exceeded']);

/** Thrown while the store is full, or the owner's quota is exhausted. */
export class NoRoomError extends RunLaterError {
  override name = 'NoRoomError';
}

/**
 * Runs `store`. If it fails because the store is full or the owner's quota is exhausted, pauses the batch with that reason.
 * @throws NoRoomError in that case; otherwise the errors of `store`
 */
export async function storeOrPause<T>(
  { batches }: { batches: Pick<BatchWork, 'setPause'> },
  batch: string,
  store: () => Promise<T>,
): Promise<T> {
  try {
    return await store();
  } catch (error) {
    if (!(error instanceof RouterError) || !noRoomCodes.has(error.code)) throw error;
    await batches.setPause(batch, { until: Date.now() + checkMs, reason: error.message, pausesAllLines: true });
    throw new NoRoomError(checkMs);
  }
}
