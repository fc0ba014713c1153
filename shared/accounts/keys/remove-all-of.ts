import type { Redis } from 'ioredis';
import { removeBackgroundOf } from '../background-responses/remove-background-of.ts';
import { removeFilesOf } from '../files/remove-files-of.ts';
import { removeStoredOf } from '../stored-responses/remove-stored-of.ts';

/** Removes what an owner has stored who is gone for good: responses, files, and responses in the background. Batches are cancelled first. */
export async function removeAllOf(redis: Redis, prefix: string, owner: string): Promise<void> {
  await removeStoredOf(redis, prefix, owner);
  await removeFilesOf(redis, prefix, owner);
  await removeBackgroundOf(redis, prefix, owner);
}
