import { deletedName } from '#shared/accounts/people/delete-person.ts';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import type { Actor } from '../actor.ts';
import { ApiFailure, notFound } from '../api-failure.ts';
import { announceChange, writeAudit, type ApiParts } from '../api-parts.ts';

/**
 * Deletes a person, notifies every ingress and writes an audit entry without the person's name.
 * @throws ApiFailure 404, or 409 for the last administrator
 */
export async function deletePerson(parts: ApiParts, actor: Actor, { id }: UserRecord): Promise<void> {
  const outcome = await announceChange(parts, `user:${id}`, () => parts.accounts.deletePerson(id));
  if (outcome === 'last admin') {
    const message = 'This is the last administrator. Make someone else an administrator first.';
    throw new ApiFailure(409, 'last_admin', message);
  }
  if (outcome !== 'deleted') throw notFound();
  const name = deletedName(id);
  const by = actor.id === id ? { ...actor, name } : actor;
  await writeAudit(parts, by, { action: 'user.delete', target: { kind: 'user', id, name }, details: {} });
}
