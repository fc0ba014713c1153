import { deletedName } from '#shared/accounts/people/delete-person.ts';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import type { Actor } from '../actor.ts';
import { ApiFailure, notFound } from '../api-failure.ts';
import { announceChange, writeAudit, type ApiParts } from '../api-parts.ts';
import { Router } from 'express';
import { z } from 'zod';
import { parse } from '../parse.ts';
import { provePassword } from '../session/prove-password.ts';
import { clearSessionCookie } from '../session/cookies.ts';
import { getSignedIn } from '../session/signed-in.ts';

/**
 * Deletes a person, notifies every ingress and writes an audit entry without the person's name.
 * @throws ApiFailure 404, or 409 for the last administrator
 */
export async function deletePerson(parts: ApiParts, actor: Actor, { id }: UserRecord): Promise<void> {
  const outcome = await announceChange(parts, `user:${id}`, () => parts.accounts.deletePerson(id));
  if (outcome === 'last admin') throw lastAdminFailure();
  if (outcome !== 'deleted') throw notFound();
  const name = deletedName(id);
  const by = actor.id === id ? { ...actor, name } : actor;
  await writeAudit(parts, by, { action: 'user.delete', target: { kind: 'user', id, name }, details: {} });
}

const deletionBody = z.strictObject({ password: z.string().min(1).max(200).optional() });

/** Creates the route with which people delete their own account. Those with a password must send it. Their usage stays in the ledger. */
export function deletionRoutes(parts: ApiParts): Router {
  const routes = Router({ caseSensitive: true, strict: true });
  routes.delete('/account', async (request, response) => {
    const person = getSignedIn(response);
    const { password = '' } = parse(deletionBody, request.body);
    const { user } = person;
    const proof = { email: user.email, password, find: async () => user, field: 'password' };
    if (user.passwordHash !== '') await provePassword(parts, request, proof);
    await deletePerson(parts, person, user);
    clearSessionCookie(request, response);
    response.status(204).end();
  });
  return routes;
}

export function lastAdminFailure(): ApiFailure {
  const message = 'This is the last administrator. Make someone else an administrator first.';
  return new ApiFailure(409, 'last_admin', message);
}
