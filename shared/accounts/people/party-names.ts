import type { LimitedParty } from '../limits/limits.ts';
import type { TeamStore } from './team-store.ts';
import type { UserStore } from './user-store.ts';

/**
 * Returns the names of the people and teams among `parties`. Leaves out parties that do not exist.
 * @throws RouterError `store_unavailable`
 */
export async function partyNames(
  { users, teams }: { users: Pick<UserStore, 'readNames'>; teams: Pick<TeamStore, 'findAll'> },
  parties: readonly LimitedParty[],
): Promise<Map<LimitedParty, string>> {
  const idsOf = (kind: string): string[] =>
    parties.filter((party) => party.startsWith(`${kind}:`)).map((party) => party.slice(kind.length + 1));
  const [people, foundTeams] = await Promise.all([users.readNames(idsOf('user')), teams.findAll(idsOf('team'))]);
  const names = new Map<LimitedParty, string>();
  for (const [id, name] of people) names.set(`user:${id}`, name);
  for (const { id, name } of foundTeams) names.set(`team:${id}`, name);
  return names;
}
