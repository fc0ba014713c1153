import type { Redis } from 'ioredis';
import { removeBackgroundResponsesOfOwner } from '../background-responses/remove-background-responses-of-owner.ts';
import { removeFilesOfOwner } from '../files/remove-files-of-owner.ts';
import { removeIdempotencyKeysOfOwner } from '../idempotent-answers/remove-idempotency-keys-of-owner.ts';
import { removeRecordingsOfOwner } from '../recordings/remove-recordings-of-owner.ts';
import { removeStoredResponsesOfOwner } from '../stored-responses/remove-stored-responses-of-owner.ts';

/**
 * Removes everything that is stored for an owner that no longer exists: responses, files, background responses, answers to idempotency
 * keys, and recordings. The caller cancels the owner's batches first.
 */
export async function removeAllOfOwner(redis: Redis, prefix: string, owner: string): Promise<void> {
  await removeStoredResponsesOfOwner(redis, prefix, owner);
  await removeFilesOfOwner(redis, prefix, owner);
  await removeBackgroundResponsesOfOwner(redis, prefix, owner);
  await removeIdempotencyKeysOfOwner(redis, prefix, owner);
  await removeRecordingsOfOwner(redis, prefix, owner);
}
