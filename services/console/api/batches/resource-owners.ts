import { z } from 'zod';
import type { Accounts } from '#shared/accounts/accounts.ts';
import type { Owner } from '../../contract/batches.ts';
import { findRelation, type Person, type ResourceOwner } from '../access.ts';

/** The owner of files or batches, in the notation of the contract. */
export const ownerText = z
  .string()
  .regex(/^(?:user|team|key):[0-9a-hjkmnp-tv-z]{12}$/, 'This is no person, team or key.')
  .describe('`user:<id>`, `team:<id>` or `key:<id>`.');

export function parseOwner(text: string): { kind: 'user' | 'team' | 'key'; id: string } {
  const [kind, id = ''] = text.split(':', 2);
  return { kind: kind === 'user' || kind === 'team' ? kind : 'key', id };
}

/** Returns the owner for the access rules; undefined for a router key, which belongs to no person or team. */
export function toResourceOwner({ kind, id }: Pick<Owner, 'kind' | 'id'>): ResourceOwner | undefined {
  return kind === 'key' ? undefined : { kind, id };
}

/**
 * Returns the owner for the access rules from a stored id, which does not say whether it is a person's or a team's. An id that is not
 * the id of one of the person's teams counts as a person's.
 */
export function findResourceOwner({ teams }: Pick<Person, 'teams'>, id: string): ResourceOwner {
  return { kind: teams.has(id) ? 'team' : 'user', id };
}

/**
 * Returns a person as a plain member if the resource is theirs or their team's, and unchanged otherwise. The access rules then let an
 * administrator read the content of their own files, and of no others.
 */
export function asMemberIfOwner(person: Person, owner: ResourceOwner | undefined): Person {
  const member: Person = { id: person.id, role: 'member', teams: person.teams };
  return findRelation(member, owner) === 'nobody' ? person : member;
}

/** Looks up people, teams and keys by id. The returned function describes a deleted owner as a key with the name `deleted`. */
export async function findOwners(
  { users, teams, keys }: Pick<Accounts, 'users' | 'teams' | 'keys'>,
  ownerIds: readonly string[],
): Promise<(id: string) => Owner> {
  const ids = [...new Set(ownerIds)];
  const [people, foundTeams] = await Promise.all([users.readNames(ids), teams.findAll(ids)]);
  const owners = new Map<string, Owner>();
  for (const [id, name] of people) owners.set(id, { kind: 'user', id, name });
  for (const { id, name } of foundTeams) owners.set(id, { kind: 'team', id, name });
  const foundKeys = await Promise.all(ids.filter((id) => !owners.has(id)).map((id) => keys.find(id)));
  for (const key of foundKeys) if (key) owners.set(key.id, { kind: 'key', id: key.id, name: key.name });
  return (id) => owners.get(id) ?? { kind: 'key', id, name: 'deleted' };
}
