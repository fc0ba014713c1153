import type { Redis } from 'ioredis';
import { acceptedMs } from '../programs/access-tokens.ts';
import { removeAgentSessionsOfOwner } from '../agent-sessions/remove-agent-sessions-of-owner.ts';
import { cancelBatchesOfOwner } from '../batches/cancel-batches-of-owner.ts';
import type { AdminTokenStore } from '../admin-tokens/admin-token-store.ts';
import type { KeyStore } from '../keys/key-store.ts';
import { removeAllOfOwner } from '../keys/remove-all-of-owner.ts';
import { accountNames } from '../redis/account-names.ts';
import { callRedis, callRedisAll } from '../redis/call-redis.ts';
import { RedisScript } from '../redis/redis-script.ts';
import { removeWebhooksOfOwner } from '../webhooks/remove-webhooks-of-owner.ts';
import type { UserStore } from './user-store.ts';

const removeUser = new RedisScript(new URL('lua/remove-user.lua', import.meta.url));

export interface DeletePersonDependencies {
  redis: Redis;
  /** Start of all names in Redis. */
  prefix: string;
  users: UserStore;
  keys: KeyStore;
  adminTokens: Pick<AdminTokenStore, 'list' | 'remove'>;
}

export type PersonDeletion = 'deleted' | 'last admin' | 'unknown';

/**
 * Deletes a person and everything that belongs to them. The person is blocked first, so that their keys, tokens and sessions are refused.
 * Then keys and tokens are revoked, batches are cancelled, and webhooks, agent sessions and everything that `removeAllOfOwner` covers are
 * removed. The record is removed last, so that the call can be repeated after a crash. The person's use stays in the ledger, under their
 * id.
 * @throws RouterError `store_unavailable`
 */
export async function deletePerson(dependencies: DeletePersonDependencies, id: string): Promise<PersonDeletion> {
  const { redis, prefix, users, keys, adminTokens } = dependencies;
  const names = accountNames(prefix);
  const outcome = await users.change(id, { blocked: true }, Date.now());
  if (outcome === 'last admin') return outcome;
  if (typeof outcome === 'string') return 'unknown';
  const keyIds = await callRedis(redis.zrange(names.keysOf(id), '0', '-1'));
  for (const keyId of keyIds) await keys.revoke(keyId, Date.now());
  for (const token of await adminTokens.list(id)) await adminTokens.remove(token);
  await cancelBatchesOfOwner(redis, prefix, id);
  await removeAllOfOwner(redis, prefix, id);
  await removeWebhooksOfOwner(redis, prefix, `user:${id}`);
  await removeAgentSessionsOfOwner(redis, prefix, `user:${id}`);
  await removeNames(dependencies, id, keyIds);
  const args = {
    id,
    revokedUntil: Date.now() + acceptedMs,
    membersOfPrefix: names.membersOf(''),
    sessionPrefix: names.session(''),
    programPrefix: names.program(''),
  };
  const redisNames = [
    names.user(id),
    names.userEmails,
    names.users,
    names.admins,
    names.teamsOf(id),
    names.sessionsOf(id),
    names.programsOf(id),
    names.revokedPrograms,
    names.externalAccounts,
    names.externalAccount(id),
    names.secondFactor(id),
    names.connectionsOf(id),
  ];
  return (await removeUser.run(redis, { keys: redisNames, args })) as PersonDeletion;
}

/** Removes the names of the person's keys and sign-in sessions that lists of requests show. */
async function removeNames(
  { redis, prefix }: DeletePersonDependencies,
  id: string,
  keyIds: readonly string[],
): Promise<void> {
  const names = accountNames(prefix);
  const teams = await callRedis(redis.hkeys(names.teamsOf(id)));
  const identities = [`session:${id}`, ...teams.map((team) => `session:${id}:${team}`)];
  const steps = redis
    .multi()
    .hdel(`${prefix}usage:key-names`, ...identities, ...keyIds)
    .zrem(`${prefix}usage:key-names-used`, ...identities, ...keyIds);
  for (const keyId of keyIds) steps.hset(names.key(keyId), 'name', 'deleted');
  await callRedisAll(steps);
}

/**
 * Returns the name that replaces the name of a deleted person wherever their id is still stored. It is always the same for the same id, and
 * does not reveal who the person was.
 */
export function deletedName(id: string): string {
  return `deleted person ${id.slice(0, 4)}`;
}
