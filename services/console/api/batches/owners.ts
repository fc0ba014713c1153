import { z } from 'zod';
import type { Accounts } from '#shared/accounts/accounts.ts';
import type { Owner } from '../../contract/batches.ts';
import { relationTo, type Person } from '../access.ts';

/** Who files and batches belong to, as the contract writes it. */
export const ownerText = z
  .string()
  .regex(/^(?:user|team|key):[0-9a-hjkmnp-tv-z]{12}$/, 'This is no person, team or key.')
  .describe('`user:<id>`, `team:<id>` or `key:<id>`.');

/** Reads a text that `ownerText` permits. */
export function readOwner(text: string): { kind: 'user' | 'team' | 'key'; id: string } {
  const [kind, id = ''] = text.split(':', 2);
  return { kind: kind === 'user' || kind === 'team' ? kind : 'key', id };
}

/** What access to something of an owner depends on: what belongs to a router key belongs to nobody. */
export type Party = { kind: 'user' | 'team'; id: string } | undefined;

export function partyOf({ kind, id }: Pick<Owner, 'kind' | 'id'>): Party {
  return kind === 'key' ? undefined : { kind, id };
}

/** The same of a stored id, which does not say whose it is: for everybody but its person and its team it is somebody else's. */
export function partyOfId({ teams }: Pick<Person, 'teams'>, id: string): Party {
  return { kind: teams.has(id) ? 'team' : 'user', id };
}

/** The person as they stand to what is theirs: an administrator is no administrator of the content of files. */
export function asOwner(person: Person, party: Party): Person {
  const plain: Person = { id: person.id, role: 'member', teams: person.teams };
  return relationTo(plain, party) === 'nobody' ? person : plain;
}

/** People, teams and keys by their ids; what is deleted has no name. */
export async function ownersOf(
  { users, teams, keys }: Pick<Accounts, 'users' | 'teams' | 'keys'>,
  given: readonly string[],
): Promise<(id: string) => Owner> {
  const ids = [...new Set(given)];
  const [people, found] = await Promise.all([users.namesOf(ids), teams.findAll(ids)]);
  const owners = new Map<string, Owner>();
  for (const [id, name] of people) owners.set(id, { kind: 'user', id, name });
  for (const { id, name } of found) owners.set(id, { kind: 'team', id, name });
  const rest = await Promise.all(ids.filter((id) => !owners.has(id)).map((id) => keys.find(id)));
  for (const key of rest) if (key) owners.set(key.id, { kind: 'key', id: key.id, name: key.name });
  return (id) => owners.get(id) ?? { kind: 'key', id, name: 'deleted' };
}
