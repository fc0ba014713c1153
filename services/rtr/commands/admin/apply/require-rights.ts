import { RouterError } from '#shared/core/errors.ts';
import type { AdminClient } from '../admin-client.ts';
import type { Access } from './access-schema.ts';
import type { Change, PresentAccess } from './change.ts';
import type { AccessFile } from './read-access.ts';

interface OwnToken {
  scopes: readonly string[];
  role: string;
}

/** Returns a sentence about why the token may not make the changes; undefined if it may. */
export async function findMissingRight(client: AdminClient, changes: readonly Change[]): Promise<string | undefined> {
  if (changes.length === 0) return undefined;
  const token = await client.get<OwnToken>('/tokens/current');
  const changesOnlyKeys = changes.every(({ what }) => what.startsWith('key '));
  const needed = changesOnlyKeys ? ['keys', 'admin'] : ['admin'];
  if (token.scopes.some((scope) => needed.includes(scope))) return undefined;
  return `The admin token may not make these changes: they need the scope ${needed.join(' or ')}, and it has ${token.scopes.join(', ')}.`;
}

/**
 * Checks that an administrator remains.
 * @throws RouterError if the file would leave none
 */
export function requireAdministrator({ access: { people = {} }, mistake }: AccessFile, present: PresentAccess): void {
  const before = [...present.people.values()].filter((person) => isAdministrator(person));
  const after = new Map(before.map(({ email }) => [email, true]));
  for (const [email, wanted] of Object.entries(people))
    after.set(email, isAdministrator(mergePerson(present, email, wanted)));
  if (before.length === 0 || [...after.values()].some(Boolean)) return;
  const last = before.find(({ email }) => people[email] !== undefined)?.email ?? '';
  const field = people[last]?.role === 'member' ? 'role' : 'blocked';
  throw mistake(['people', last, field], 'leaves nobody who is an administrator');
}

/**
 * Refuses the changes if there is a reason why the token may not make them.
 * @throws RouterError `permission_denied` with the reason
 */
export function requirePermitted(reason: string | undefined): void {
  if (reason !== undefined) throw new RouterError('permission_denied', reason);
}

function mergePerson(present: PresentAccess, email: string, wanted: NonNullable<Access['people']>[string]) {
  const current = present.people.get(email);
  return { role: wanted.role ?? current?.role ?? 'member', blocked: wanted.blocked ?? current?.blocked ?? false };
}

function isAdministrator({ role, blocked }: { role: string; blocked: boolean }): boolean {
  return role === 'admin' && !blocked;
}
