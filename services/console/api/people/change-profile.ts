import type { UserRecord } from '#shared/accounts/people/user.ts';
import type { Actor } from '../actor.ts';
import { ApiFailure, notFound } from '../api-failure.ts';
import { record, type ApiParts } from '../api-parts.ts';

/** Gives a person another name. @throws ApiFailure 404 */
export async function changeName(
  parts: ApiParts,
  actor: Actor,
  { id, name: before }: UserRecord,
  name: string,
): Promise<void> {
  if (!(await parts.accounts.users.rename(id, name))) throw notFound();
  // Access tokens and the names of keys' owners say it.
  await parts.announce(`user:${id}`);
  const target = { kind: 'user', id, name };
  await record(parts, actor, { action: 'user.rename', target, details: { before, after: name } });
}

/** Gives a person another address, which ends all their sessions. @throws ApiFailure 404, or 409 for an address of somebody else */
export async function changeAddress(
  parts: ApiParts,
  actor: Actor,
  { id, name, email: before }: UserRecord,
  email: string,
): Promise<void> {
  const outcome = await parts.accounts.users.changeEmail(id, email);
  if (outcome === 'unknown') throw notFound();
  if (outcome === 'email taken') {
    const message = 'An account with this e-mail address exists already.';
    throw new ApiFailure(409, 'email_taken', message, { field: 'email' });
  }
  await parts.announce(`user:${id}`);
  const target = { kind: 'user', id, name };
  await record(parts, actor, { action: 'user.email', target, details: { before, after: email } });
}
