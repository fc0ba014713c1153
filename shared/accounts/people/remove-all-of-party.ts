import type { Redis } from 'ioredis';
import type { KeyStore } from '../keys/key-store.ts';
import { removeAllOfOwner } from './owned-kinds.ts';
import { accountNames } from '#shared/store/redis/account-names.ts';
import { callRedis } from '#shared/store/redis/call-redis.ts';

export interface RemovalDependencies {
  redis: Redis;
  /** Start of all names in Redis. */
  prefix: string;
  keys: KeyStore;
}

/**
 * Revokes the keys of a person or team that is being deleted, and removes everything that is stored for the person or team, and for these
 * keys. The call can be repeated after a crash.
 * @throws RouterError `store_unavailable`
 */
export async function removeAllOfParty(
  { redis, prefix, keys }: RemovalDependencies,
  kind: 'user' | 'team',
  id: string,
): Promise<void> {
  const keyIds = await callRedis(redis.zrange(accountNames(prefix).keysOf(id), '0', '-1'));
  for (const keyId of keyIds) await keys.revoke(keyId, Date.now());
  await removeAllOfOwner(redis, prefix, { kind, id });
}
