import { otherRow } from '#shared/accounts/ledger/totals.ts';
import type { LimitedParty } from '#shared/accounts/limits/limits.ts';
import { deletedName } from '#shared/accounts/people/delete-person.ts';
import { personOfIdentity } from '#shared/accounts/people/person-identity.ts';
import type { RefusalRow } from '#shared/accounts/refusals/refusal-row.ts';
import type { RefusedBy } from '../../contract/refusals.ts';
import type { UsageParts } from './usage-parts.ts';

type Who = Omit<RefusalRow, 'code'>;

/**
 * Looks up the names of keys and of their owners. A pseudonym replaces the name of a deleted person and of that person's keys. A deleted
 * team is named by its id.
 */
export async function nameSenders(
  { usage, namesOf }: Pick<UsageParts, 'namesOf'> & { usage: Pick<UsageParts['usage'], 'readKeyNames'> },
  all: readonly Who[],
): Promise<(who: Who) => RefusedBy> {
  const people = all.flatMap(({ key, user }) => personOf({ key, user }) ?? []);
  const teams = all.flatMap(({ team }) => (team === '' ? [] : [team]));
  const parties = [...people.map((id) => `user:${id}` as const), ...teams.map((id) => `team:${id}` as const)];
  const keys = [...new Set(all.map(({ key }) => key))].filter((key) => key !== '' && key !== otherRow);
  const [names, keyNames] = await Promise.all([namesOf([...new Set<LimitedParty>(parties)]), usage.readKeyNames(keys)]);

  function keyName(who: Who): string {
    const person = personOf(who);
    if (person !== undefined && names.get(`user:${person}`) === undefined) return deletedName(person);
    return keyNames.get(who.key) ?? who.key;
  }

  return (who) => {
    const { key, user, team } = who;
    const owner = user !== '' ? ({ kind: 'user', id: user } as const) : ({ kind: 'team', id: team } as const);
    const name = names.get(`${owner.kind}:${owner.id}`) ?? (owner.kind === 'user' ? deletedName(owner.id) : owner.id);
    return {
      ...(key !== '' && { key: { id: key, name: keyName(who) } }),
      ...(owner.id !== '' && { owner: { ...owner, name } }),
    };
  };
}

/** Returns the id of the person who signed in or owns the key. */
function personOf({ key, user }: Pick<Who, 'key' | 'user'>): string | undefined {
  return personOfIdentity(key)?.userId ?? (user === '' ? undefined : user);
}
