import { acceptedMs } from '../sign-in/programs/access-tokens.ts';
import type { AdminTokenStore } from '../keys/admin-tokens/admin-token-store.ts';
import { totalsKeptMs } from '../periods.ts';
import { accountNames } from '#shared/store/redis/account-names.ts';
import { callRedis, callRedisAll } from '#shared/store/redis/call-redis.ts';
import { RedisScript } from '#shared/store/redis/redis-script.ts';
import { removeAllOfParty, type RemovalDependencies } from './remove-all-of-party.ts';
import type { UserStore } from './user-store.ts';

const removeUser = new RedisScript(
  new URL('../keys/lua/forget-keys.lua', import.meta.url),
  new URL('lua/remove-user.lua', import.meta.url),
);

export interface DeletePersonDependencies extends RemovalDependencies {
  users: UserStore;
  adminTokens: Pick<AdminTokenStore, 'list' | 'remove'>;
}

export type PersonDeletion = 'deleted' | 'last admin' | 'unknown';

/**
 * Deletes a person and everything that belongs to them. The person is blocked first, so that their keys, tokens and sessions are refused.
 * Then admin tokens and everything that `removeAllOfParty` covers are removed. The record is removed last, so that the call can be repeated
 * after a crash. The person's use stays in the ledger, under their id.
 * @throws RouterError `store_unavailable`
 */
export async function deletePerson(dependencies: DeletePersonDependencies, id: string): Promise<PersonDeletion> {
  const { redis, prefix, users, adminTokens } = dependencies;
  const names = accountNames(prefix);
  const outcome = await users.change(id, { blocked: true }, Date.now());
  if (outcome === 'last admin') return outcome;
  if (typeof outcome === 'string') return 'unknown';
  const args = {
    id,
    membersOfPrefix: names.membersOf(''),
    sessionPrefix: names.session(''),
    programPrefix: names.program(''),
    keyPrefix: names.key(''),
    keysKeptMs: totalsKeptMs.month,
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
    names.keys,
    names.keysOf(id),
    names.keyUses,
  ];
  for (;;) {
    for (const token of await adminTokens.list(id)) await adminTokens.remove(token);
    await removeAllOfParty(dependencies, 'user', id);
    await removeNames(dependencies, id);
    // Counted from each run, because an access token may have been issued meanwhile.
    const revokedUntil = Date.now() + acceptedMs;
    const removal = (await removeUser.run(redis, { keys: redisNames, args: { ...args, revokedUntil } })) as
      | PersonDeletion
      | 'key left';
    if (removal !== 'key left') return removal;
  }
}

/** Removes the names of the person's keys and sign-in sessions that lists of requests show. */
async function removeNames({ redis, prefix }: RemovalDependencies, id: string): Promise<void> {
  const names = accountNames(prefix);
  const keyIds = await callRedis(redis.zrange(names.keysOf(id), '0', '-1'));
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
