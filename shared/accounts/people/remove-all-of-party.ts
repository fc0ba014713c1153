import type { Redis } from 'ioredis';
import { removeAgentSessionsOfOwner } from '../agent-sessions/remove-agent-sessions-of-owner.ts';
import type { KeyStore } from '../keys/key-store.ts';
import { removeAllOfOwner } from '../keys/remove-all-of-owner.ts';
import { accountNames } from '../redis/account-names.ts';
import { callRedis } from '../redis/call-redis.ts';
import { removeWebhooksOfOwner } from '../webhooks/remove-webhooks-of-owner.ts';

export interface RemovalDependencies {
  redis: Redis;
  /** Start of all names in Redis. */
  prefix: string;
  keys: KeyStore;
}

/**
 * Revokes the keys of a person or team that is being deleted. Removes their webhooks, their agent sessions and everything that
 * `removeAllOfOwner` covers, of their keys, too. The call can be repeated after a crash.
 * @throws RouterError `store_unavailable`
 */
export async function removeAllOfParty(
  { redis, prefix, keys }: RemovalDependencies,
  kind: 'user' | 'team',
  id: string,
): Promise<void> {
  const keyIds = await callRedis(redis.zrange(accountNames(prefix).keysOf(id), '0', '-1'));
  for (const keyId of keyIds) await keys.revoke(keyId, Date.now());
  await removeAllOfOwner(redis, prefix, id);
  await removeWebhooksOfOwner(redis, prefix, `${kind}:${id}`);
  await removeAgentSessionsOfOwner(redis, prefix, `${kind}:${id}`);
}
