import { hasConfirmedEmail, type UserRecord } from '#shared/accounts/people/user.ts';
import type { Actor } from '../actor.ts';
import { ApiFailure, forbidden, notFound } from '../api-failure.ts';
import { announceChange, writeAudit, type ApiParts } from '../api-parts.ts';
import { auditUserChanges } from './audit-user-changes.ts';

/**
 * Renames a person and notifies every ingress.
 * @throws ApiFailure 404
 */
export async function changeName(parts: ApiParts, actor: Actor, { id }: UserRecord, name: string): Promise<void> {
  // Ingress nodes cache the name in access tokens and with the owners of keys.
  const before = await announceChange(parts, `user:${id}`, () => parts.accounts.users.change(id, { name }, Date.now()));
  if (typeof before === 'string') throw notFound();
  await auditUserChanges(parts, actor, before, { name });
}

/**
 * Changes the address of a person, which ends all their sign-in sessions. An address that somebody else sets counts as confirmed.
 * @throws ApiFailure 404, or 409 for an address of somebody else
 */
export async function changeAddress(
  parts: ApiParts,
  actor: Actor,
  { id, name, email: before }: UserRecord,
  email: string,
): Promise<void> {
  const by = actor.id === id ? 'the person' : 'somebody else';
  const outcome = await announceChange(parts, `user:${id}`, () => parts.accounts.users.changeEmail(id, email, by));
  if (outcome === 'unknown') throw notFound();
  if (outcome === 'email taken') throw emailTaken();
  if (outcome === 'invited') {
    const message = 'There is an open invitation to this e-mail address: an administrator can withdraw it.';
    throw new ApiFailure(409, 'email_taken', message, { field: 'email' });
  }
  const target = { kind: 'user', id, name };
  await writeAudit(parts, actor, { action: 'user.email', target, details: { before, after: email } });
}

/**
 * Returns the 409 for an e-mail address that somebody has already.
 * @param holder the person who has it; pass it only in answers to administrators, because the message contains the person's id
 */
export function emailTaken(holder?: UserRecord): ApiFailure {
  const message =
    holder && !hasConfirmedEmail(holder)
      ? `The account ${holder.id} has this e-mail address: its person has typed it in, and nobody has confirmed that it is theirs. Make sure who it is. If it is not theirs, give the account another address, or block it.`
      : 'An account with this e-mail address exists already.';
  return new ApiFailure(409, 'email_taken', message, { field: 'email' });
}

/**
 * Marks the address that a person has typed in as confirmed to be theirs.
 * @throws ApiFailure 403 if the actor is the person
 */
export async function confirmAddress(parts: ApiParts, actor: Actor, user: UserRecord): Promise<void> {
  const { id, name, email } = user;
  if (hasConfirmedEmail(user)) return;
  if (actor.id === id) throw forbidden('Another administrator has to confirm your address.');
  await announceChange(parts, `user:${id}`, () => parts.accounts.users.noteEmail(id, email, { confirmed: true }));
  await writeAudit(parts, actor, {
    action: 'user.email.confirm',
    target: { kind: 'user', id, name },
    details: { email },
  });
}

/**
 * Refuses a change that gives rights to a person with an unconfirmed e-mail address.
 * @throws ApiFailure 409
 */
export function requireConfirmedEmail(user: UserRecord): void {
  if (hasConfirmedEmail(user)) return;
  const message =
    'The person with this address has typed it in, and nobody has confirmed that it is theirs. Make sure who it is, and confirm it (Admin, people; or `rtr users rename <id> --email <address>`).';
  throw new ApiFailure(409, 'unconfirmed_address', message, { field: 'email' });
}
