import type { Redis } from 'ioredis';
import { RedisScript, scriptStart } from '../redis/redis-script.ts';

const removeOwner = new RedisScript(
  scriptStart,
  new URL('lua/files.lua', import.meta.url),
  new URL('lua/remove-owner.lua', import.meta.url),
);

/** Maximum of files that one call of the script removes. A call with the maximum takes some milliseconds. */
const maxPerCall = 1_000;

/** Milliseconds for which further files of the owner are refused. No upload that has begun takes longer. */
const refusedForMs = 24 * 3_600_000;

/**
 * Removes all files of an owner that no longer exists: a deleted team, or a revoked key. Unfinished uploads no longer become files. The
 * content is removed within minutes.
 * @param prefix start of all names in Redis
 * @throws RouterError `store_unavailable`
 */
export async function removeFilesOfOwner(redis: Redis, prefix: string, owner: string): Promise<void> {
  let left = 1;
  while (left > 0)
    left = Number(await removeOwner.run(redis, { args: { prefix, owner, maxFiles: maxPerCall, refusedForMs } }));
}
