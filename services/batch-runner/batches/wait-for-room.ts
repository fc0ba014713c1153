import type { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import { LaterError } from '#shared/background/background-worker.ts';
import { RouterError, type ErrorCode } from '#shared/core/errors.ts';

/** Milliseconds until it is looked again whether there is room. */
const againMs = 30_000;

const noRoom: ReadonlySet<ErrorCode> = new Set(['storage_full', 'storage_quota_exceeded']);

/** Thrown while there is no room. */
export class NoRoomError extends LaterError {
  override name = 'NoRoomError';
}

/**
 * Does what needs room in the store. While the store is full, or the owner's quota used up, the batch says so, and it is done again later.
 * @throws NoRoomError while there is no room, or as `store` does
 */
export async function waitForRoom<T>(
  { work }: { work: Pick<BatchWork, 'pause'> },
  batch: string,
  store: () => Promise<T>,
): Promise<T> {
  try {
    return await store();
  } catch (error) {
    if (!(error instanceof RouterError) || !noRoom.has(error.code)) throw error;
    await work.pause(batch, { until: Date.now() + againMs, reason: error.message, isForAll: true });
    throw new NoRoomError(againMs);
  }
}
