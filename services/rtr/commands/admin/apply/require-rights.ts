import { RouterError } from '#shared/core/errors.ts';
import type { AdminClient } from '../admin-client.ts';
import type { Access } from './access-schema.ts';
import type { Change, PresentAccess } from './change.ts';
import type { AccessFile } from './read-access.ts';

interface OwnToken {
  scopes: readonly string[];
  role: string;
}

/** Returns a sentence that says why the token may not make the changes; undefined if it may. */
export async function findMissingRight(client: AdminClient, changes: readonly Change[]): Promise<string | undefined> {
  if (changes.length === 0) return undefined;
  const token = await client.get<OwnToken>('/tokens/current');
  const changesOnlyKeys = changes.every(({ what }) => what.startsWith('key '));
  const neededScopes = changesOnlyKeys ? ['keys', 'admin'] : ['admin'];
  if (token.scopes.some((scope) => neededScopes.includes(scope))) return undefined;
  return `The admin token may not make these changes: they need the scope ${neededScopes.join(' or ')}, and it has ${token.scopes.join(', ')}.`;
}

/**
 * Checks that the file leaves at least one administrator.
 * @throws RouterError if it would leave none
 */
export function requireAdministrator(
  { access: { people = {} }, createError }: AccessFile,
  present: PresentAccess,
): void {
  const administrators = [...present.people.values()].filter((person) => isAdministrator(person));
  const isAdministratorAfter = new Map(administrators.map(({ email }) => [email, true]));
  for (const [email, wanted] of Object.entries(people))
    isAdministratorAfter.set(email, isAdministrator(mergePerson(present, email, wanted)));
  if (administrators.length === 0 || [...isAdministratorAfter.values()].some(Boolean)) return;
  const lastEmail = administrators.find(({ email }) => people[email] !== undefined)?.email ?? '';
  const field = people[lastEmail]?.role === 'member' ? 'role' : 'blocked';
  throw createError(['people', lastEmail, field], 'would leave no administrator');
}

/**
 * Refuses the changes if the token may not make them.
 * @param refusal what `findMissingRight` returned
 * @throws RouterError `permission_denied`
 */
export function requirePermitted(refusal: string | undefined): void {
  if (refusal !== undefined) throw new RouterError('permission_denied', refusal);
}

function mergePerson(present: PresentAccess, email: string, wanted: NonNullable<Access['people']>[string]) {
  const current = present.people.get(email);
  return { role: wanted.role ?? current?.role ?? 'member', blocked: wanted.blocked ?? current?.blocked ?? false };
}

function isAdministrator({ role, blocked }: { role: string; blocked: boolean }): boolean {
  return role === 'admin' && !blocked;
}
