import { Router } from 'express';
import { z } from 'zod';
import type { ApiParts } from '../api-parts.ts';
import { parse } from '../parse.ts';
import { provePassword } from '../session/prove-password.ts';
import { clearSessionCookie } from '../session/session-cookie.ts';
import { getSignedIn } from '../session/signed-in.ts';
import { deletePerson } from './delete-person.ts';

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
