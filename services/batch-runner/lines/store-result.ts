import { OwnerGoneError } from '#shared/accounts/files/file-records.ts';
import {
  toObjectResult,
  sealResult,
  type LineResult,
  type StorableResult,
} from '#shared/accounts/batches/line-result.ts';
import type { Sealer } from '#shared/core/seal.ts';
import type { Files } from '#shared/files/files.ts';
import { recordThroughOutage } from '#shared/store/redis/record-through-outage.ts';

/** Largest result in bytes that is stored in Redis itself. */
const maxInRedisBytes = 64 * 1024;

export interface StoreResultParts {
  files: Pick<Files, 'receive'>;
  /** Aborts when the runner stops. */
  stopping: AbortSignal;
}

export interface StoredResult {
  result: StorableResult;
  /** Removes the object of a large result, unless a recorded result names the object. */
  discard: () => Promise<void>;
}

/**
 * Stores the text of a result: sealed in the record of the result or, if it is large, in an object. Until the result is recorded, the
 * object counts as an unfinished upload, so that it is removed even if the runner stops.
 * @throws RouterError `storage_full`, or `store_unavailable` once the store has been unreachable for a minute
 */
export async function storeResult(
  { files, stopping }: StoreResultParts,
  owner: string,
  result: LineResult,
  sealer: Sealer,
): Promise<StoredResult> {
  const sealInRecord = async (text: string): Promise<StoredResult> => ({
    result: await sealResult({ ...result, text }, sealer),
    discard: () => Promise.resolve(),
  });
  if (Buffer.byteLength(result.text) <= maxInRedisBytes) return sealInRecord(result.text);
  const bytes = Buffer.from(`${result.text}\n`);
  try {
    const receive = () => files.receive(owner, yieldOnce(bytes), { isResult: true });
    const upload = await recordThroughOutage(receive, stopping);
    return { result: toObjectResult(upload, result), discard: upload.discard };
  } catch (error) {
    // The owner is gone, so nobody can read the text. The usage is still recorded.
    if (error instanceof OwnerGoneError) return sealInRecord('');
    throw error;
  }
}

async function* yieldOnce(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
