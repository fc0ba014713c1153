import type { Redis } from 'ioredis';
import { removeBackgroundOf } from '../background-responses/remove-background-of.ts';
import { removeFilesOf } from '../files/remove-files-of.ts';
import { removeIdempotentOf } from '../idempotent-answers/remove-idempotent-of.ts';
import { removeRecordingsOf } from '../recordings/remove-recordings-of.ts';
import { removeStoredOf } from '../stored-responses/remove-stored-of.ts';

/**
 * Removes everything that is stored for an owner that no longer exists: responses, files, background responses, answers to idempotency
 * keys, and recordings. The caller cancels the owner's batches first.
 */
export async function removeAllOf(redis: Redis, prefix: string, owner: string): Promise<void> {
  await removeStoredOf(redis, prefix, owner);
  await removeFilesOf(redis, prefix, owner);
  await removeBackgroundOf(redis, prefix, owner);
  await removeIdempotentOf(redis, prefix, owner);
  await removeRecordingsOf(redis, prefix, owner);
}
