import { hasConfirmedEmail, type UserRecord } from '#shared/accounts/people/user.ts';
import type { Actor } from '../actor.ts';
import { ApiFailure, forbidden, notFound } from '../api-failure.ts';
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

/**
 * Gives a person another address, which ends all their sessions. One that somebody else gives them is confirmed.
 * @throws ApiFailure 404, or 409 for an address of somebody else
 */
export async function changeAddress(
  parts: ApiParts,
  actor: Actor,
  { id, name, email: before }: UserRecord,
  email: string,
): Promise<void> {
  const by = actor.id === id ? 'the person' : 'somebody else';
  const outcome = await parts.accounts.users.changeEmail(id, email, by);
  if (outcome === 'unknown') throw notFound();
  if (outcome === 'email taken') throw emailTaken();
  if (outcome === 'invited') {
    const message = 'There is an open invitation to this e-mail address: an administrator can withdraw it.';
    throw new ApiFailure(409, 'email_taken', message, { field: 'email' });
  }
  await parts.announce(`user:${id}`);
  const target = { kind: 'user', id, name };
  await record(parts, actor, { action: 'user.email', target, details: { before, after: email } });
}

/** Says that an address is taken. @param holder who has it, for administrators alone */
export function emailTaken(holder?: UserRecord): ApiFailure {
  const message =
    holder && !hasConfirmedEmail(holder)
      ? `The account ${holder.id} has this e-mail address: its person has typed it in, and nobody has confirmed that it is theirs. Make sure who it is. If it is not theirs, give the account another address, or block it.`
      : 'An account with this e-mail address exists already.';
  return new ApiFailure(409, 'email_taken', message, { field: 'email' });
}

/** Confirms that the address that a person has typed in is theirs. Nobody confirms their own. */
export async function confirmAddress(parts: ApiParts, actor: Actor, user: UserRecord): Promise<void> {
  const { id, name, email } = user;
  if (hasConfirmedEmail(user)) return;
  if (actor.id === id) throw forbidden('Another administrator has to confirm your address.');
  await parts.accounts.users.noteEmail(id, email, { confirmed: true });
  await parts.announce(`user:${id}`);
  await record(parts, actor, { action: 'user.email.confirm', target: { kind: 'user', id, name }, details: { email } });
}

/** Refuses what would give somebody, who is named by the address, more than they have, where they have typed that address in. */
export function requireConfirmedEmail(user: UserRecord): void {
  if (hasConfirmedEmail(user)) return;
  const message =
    'The person with this address has typed it in, and nobody has confirmed that it is theirs. Make sure who it is, and confirm it (Admin, people; or `rtr users rename <id> --email <address>`).';
  throw new ApiFailure(409, 'unconfirmed_address', message, { field: 'email' });
}
