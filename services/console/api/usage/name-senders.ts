import { otherRow } from '#shared/accounts/ledger/totals.ts';
import type { LimitedParty } from '#shared/accounts/limits/limits.ts';
import { deletedName } from '#shared/accounts/people/delete-person.ts';
import { parsePersonIdentity } from '#shared/accounts/people/person-identity.ts';
import type { RefusalRow } from '#shared/accounts/ledger/refusals/refusal-row.ts';
import type { RefusedBy } from '../../contract/refusals.ts';
import type { UsageParts } from './usage-parts.ts';

type Sender = Omit<RefusalRow, 'code'>;

/**
 * Looks up the names of keys and of their owners, and returns a function that names a sender. A pseudonym replaces the name of a deleted
 * person and of that person's keys. The name of a deleted team is its id.
 */
export async function nameSenders(
  { usage, namesOf }: Pick<UsageParts, 'namesOf'> & { usage: Pick<UsageParts['usage'], 'readKeyNames'> },
  senders: readonly Sender[],
): Promise<(sender: Sender) => RefusedBy> {
  const people = senders.flatMap(({ key, user }) => findPerson({ key, user }) ?? []);
  const teams = senders.flatMap(({ team }) => (team === '' ? [] : [team]));
  const parties = [...people.map((id) => `user:${id}` as const), ...teams.map((id) => `team:${id}` as const)];
  const keys = [...new Set(senders.map(({ key }) => key))].filter((key) => key !== '' && key !== otherRow);
  const [names, keyNames] = await Promise.all([namesOf([...new Set<LimitedParty>(parties)]), usage.readKeyNames(keys)]);

  function findKeyName(sender: Sender): string {
    const person = findPerson(sender);
    if (person !== undefined && names.get(`user:${person}`) === undefined) return deletedName(person);
    return keyNames.get(sender.key) ?? sender.key;
  }

  return (sender) => {
    const { key, user, team } = sender;
    const owner = user !== '' ? ({ kind: 'user', id: user } as const) : ({ kind: 'team', id: team } as const);
    const name = names.get(`${owner.kind}:${owner.id}`) ?? (owner.kind === 'user' ? deletedName(owner.id) : owner.id);
    return {
      ...(key !== '' && { key: { id: key, name: findKeyName(sender) } }),
      ...(owner.id !== '' && { owner: { ...owner, name } }),
    };
  };
}

/** Returns the id of the signed-in person or, for a key, of the person who owns the key. */
function findPerson({ key, user }: Pick<Sender, 'key' | 'user'>): string | undefined {
  return parsePersonIdentity(key)?.userId ?? (user === '' ? undefined : user);
}
