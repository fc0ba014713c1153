import type { Redis } from 'ioredis';
import { removeBackgroundOf } from '../background-responses/remove-background-of.ts';
import { removeFilesOf } from '../files/remove-files-of.ts';
import { removeIdempotentOf } from '../idempotent-answers/remove-idempotent-of.ts';
import { removeRecordingsOf } from '../recordings/remove-recordings-of.ts';
import { removeStoredOf } from '../stored-responses/remove-stored-of.ts';

/**
 * Removes what is kept of an owner who is gone for good: responses, files, responses in the background, answers to idempotency keys, and
 * recordings.
 * Batches are cancelled first.
 */
export async function removeAllOf(redis: Redis, prefix: string, owner: string): Promise<void> {
  await removeStoredOf(redis, prefix, owner);
  await removeFilesOf(redis, prefix, owner);
  await removeBackgroundOf(redis, prefix, owner);
  await removeIdempotentOf(redis, prefix, owner);
  await removeRecordingsOf(redis, prefix, owner);
}
