import { Router } from 'express';
import { z } from 'zod';
import { deletedName } from '#shared/accounts/people/delete-person.ts';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import { requireAccess } from '../access.ts';
import { ApiFailure, notFound } from '../api-failure.ts';
import { record, type ApiParts } from '../api-parts.ts';
import { parse } from '../parse.ts';
import { provePassword } from '../session/prove-password.ts';
import { clearSessionCookie } from '../session/session-cookie.ts';
import { signedInOf, type SignedIn } from '../session/signed-in.ts';

const own = z.strictObject({ password: z.string().min(1).max(200).optional() });

/** Deleting people: oneself, with the password where one has one, and by administrators. What they have used stays in the ledger. */
export function deletionRoutes(parts: ApiParts): Router {
  const { accounts } = parts;
  const routes = Router();
  routes.delete('/account', async (request, response) => {
    const person = signedInOf(response);
    const { password = '' } = parse(own, request.body);
    const { user } = person;
    const claim = { email: user.email, password, find: async () => user, field: 'password' };
    if (user.passwordHash !== '') await provePassword(parts, request, claim);
    await remove(person, user);
    clearSessionCookie(request, response);
    response.status(204).end();
  });
  routes.delete('/users/:id', async (request, response) => {
    const person = signedInOf(response);
    requireAccess('user.manage', person);
    const user = await accounts.users.find(request.params.id);
    if (!user) throw notFound();
    await remove(person, user);
    response.status(204).end();
  });
  return routes;

  async function remove(actor: SignedIn, { id }: UserRecord): Promise<void> {
    const outcome = await accounts.deletePerson(id);
    if (outcome === 'unknown') throw notFound();
    if (outcome === 'last admin') {
      const message = 'This is the last administrator. Make someone else an administrator first.';
      throw new ApiFailure(409, 'last_admin', message);
    }
    await parts.announce(`user:${id}`);
    const name = deletedName(id);
    const by = actor.id === id ? { ...actor, name } : actor;
    await record(parts, by, { action: 'user.delete', target: { kind: 'user', id, name }, details: {} });
  }
}
