import { totalsKeptMs } from '../periods.ts';
import { accountNames } from '#shared/store/redis/account-names.ts';
import { RedisScript } from '#shared/store/redis/redis-script.ts';
import { removeAllOfParty, type RemovalDependencies } from './remove-all-of-party.ts';

const closeTeam = new RedisScript(new URL('lua/close-team.lua', import.meta.url));
const deleteRecord = new RedisScript(
  new URL('../keys/lua/forget-keys.lua', import.meta.url),
  new URL('lua/delete-team.lua', import.meta.url),
);

/**
 * Deletes a team and everything that `removeAllOfParty` covers. First ends its memberships and revokes its keys. The record is deleted
 * last, so that the call can be repeated after a crash.
 * @returns how many keys were revoked; undefined if there is no such team
 * @throws RouterError `store_unavailable`
 */
export async function deleteTeam(dependencies: RemovalDependencies, id: string): Promise<number | undefined> {
  const { redis } = dependencies;
  const { team, membersOf, teams, teamsOf, key, keys, keysOf, keyUses } = accountNames(dependencies.prefix);
  const closing = {
    keys: [team(id), membersOf(id), keysOf(id)],
    args: { id, now: Date.now(), keyPrefix: key(''), teamsOfPrefix: teamsOf('') },
  };
  const deletion = {
    keys: [team(id), membersOf(id), teams, keys, keysOf(id), keyUses],
    args: { id, keyPrefix: key(''), keysKeptMs: totalsKeptMs.month },
  };
  let revokedKeys: number | undefined = 0;
  // Repeated if somebody has added a member or a key meanwhile.
  do {
    const revoked = Number(await closeTeam.run(redis, closing));
    if (revoked === -1) {
      // Another call has deleted the record, and may have ended before the removal that follows.
      revokedKeys = undefined;
      break;
    }
    revokedKeys += revoked;
    await removeAllOfParty(dependencies, 'team', id);
  } while ((await deleteRecord.run(redis, deletion)) === 0);
  // Workloads that act for the team could store something for as long as the record existed.
  await removeAllOfParty(dependencies, 'team', id);
  return revokedKeys;
}
