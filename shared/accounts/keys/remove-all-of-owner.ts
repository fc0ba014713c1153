import type { Redis } from 'ioredis';
import { removeBackgroundResponsesOfOwner } from '../background-responses/remove-background-responses-of-owner.ts';
import { cancelBatchesOfOwner } from '../batches/cancel-batches-of-owner.ts';
import { removeFilesOfOwner } from '../files/remove-files-of-owner.ts';
import { removeIdempotencyKeysOfOwner } from '../idempotent-answers/remove-idempotency-keys-of-owner.ts';
import { removeRecordingsOfOwner } from '../recordings/remove-recordings-of-owner.ts';
import { removeStoredResponsesOfOwner } from '../stored-responses/remove-stored-responses-of-owner.ts';

/**
 * Cancels the batches of an owner that no longer exists, and removes everything that is stored for the owner: responses, files, background
 * responses, answers to idempotency keys, and recordings.
 */
export async function removeAllOfOwner(redis: Redis, prefix: string, owner: string): Promise<void> {
  await cancelBatchesOfOwner(redis, prefix, owner);
  await removeStoredResponsesOfOwner(redis, prefix, owner);
  await removeFilesOfOwner(redis, prefix, owner);
  await removeBackgroundResponsesOfOwner(redis, prefix, owner);
  await removeIdempotencyKeysOfOwner(redis, prefix, owner);
  await removeRecordingsOfOwner(redis, prefix, owner);
}
