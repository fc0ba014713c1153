import { z } from 'zod';
import type { Accounts } from '#shared/accounts/accounts.ts';
import type { Owner } from '../../contract/batches.ts';
import { relationTo, type Person } from '../access.ts';

/** The owner of files or batches, in the notation of the contract. */
export const ownerText = z
  .string()
  .regex(/^(?:user|team|key):[0-9a-hjkmnp-tv-z]{12}$/, 'This is no person, team or key.')
  .describe('`user:<id>`, `team:<id>` or `key:<id>`.');

export function readOwner(text: string): { kind: 'user' | 'team' | 'key'; id: string } {
  const [kind, id = ''] = text.split(':', 2);
  return { kind: kind === 'user' || kind === 'team' ? kind : 'key', id };
}

/** The person or team whose rights the access rules check. Undefined: nobody, because the resource belongs to a router key. */
export type Party = { kind: 'user' | 'team'; id: string } | undefined;

export function partyOf({ kind, id }: Pick<Owner, 'kind' | 'id'>): Party {
  return kind === 'key' ? undefined : { kind, id };
}

/**
 * Returns the party of a stored id, which does not say what kind of owner it is. An id that is not one of the person's teams
 * counts as the id of a person.
 */
export function partyOfId({ teams }: Pick<Person, 'teams'>, id: string): Party {
  return { kind: teams.has(id) ? 'team' : 'user', id };
}

/**
 * Returns a person as a plain member if the resource is theirs or their team's, and unchanged otherwise. The access rules then let an
 * administrator read the content of their own files, and of no others.
 */
export function asOwner(person: Person, party: Party): Person {
  const plain: Person = { id: person.id, role: 'member', teams: person.teams };
  return relationTo(plain, party) === 'nobody' ? person : plain;
}

/** Looks up people, teams and keys by id. Deleted ones have no name. */
export async function ownersOf(
  { users, teams, keys }: Pick<Accounts, 'users' | 'teams' | 'keys'>,
  names: readonly string[],
): Promise<(id: string) => Owner> {
  const ids = [...new Set(names)];
  const [people, found] = await Promise.all([users.readNames(ids), teams.findAll(ids)]);
  const owners = new Map<string, Owner>();
  for (const [id, name] of people) owners.set(id, { kind: 'user', id, name });
  for (const { id, name } of found) owners.set(id, { kind: 'team', id, name });
  const rest = await Promise.all(ids.filter((id) => !owners.has(id)).map((id) => keys.find(id)));
  for (const key of rest) if (key) owners.set(key.id, { kind: 'key', id: key.id, name: key.name });
  return (id) => owners.get(id) ?? { kind: 'key', id, name: 'deleted' };
}
