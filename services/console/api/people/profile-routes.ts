import { Router } from 'express';
import { z } from 'zod';
import { displayNameSchema, emailSchema, type UserRecord } from '#shared/accounts/people/user.ts';
import { notFound } from '../api-failure.ts';
import type { ApiParts } from '../api-parts.ts';
import { parse } from '../parse.ts';
import { provePassword } from '../session/prove-password.ts';
import { startSession } from '../session/start-session.ts';
import { toSessionAnswer, getSignedIn } from '../session/signed-in.ts';
import { changeAddress, changeName } from './change-profile.ts';

const profileChange = z.strictObject({ name: displayNameSchema.optional(), alertEmails: z.boolean().optional() });
const newEmail = z.strictObject({ email: emailSchema, password: z.string().min(1).max(200) });

export function profileRoutes(parts: ApiParts): Router {
  const { users, sessions } = parts.accounts;
  const routes = Router({ caseSensitive: true, strict: true });
  routes.patch('/account', async (request, response) => {
    const person = getSignedIn(response);
    const { name, alertEmails } = parse(profileChange, request.body);
    if (name !== undefined) await changeName(parts, person, person.user, name);
    if (alertEmails !== undefined) await users.setAlertEmails(person.id, alertEmails);
    response.json(await toSessionAnswer(parts.accounts, await requirePerson(person.id), person.sessionId));
  });
  routes.post('/account/email', async (request, response) => {
    const person = getSignedIn(response);
    const { email, password } = parse(newEmail, request.body);
    const { email: before } = person.user;
    const opener = await sessions.readOpener(person.sessionId);
    await provePassword(parts, request, { email: before, password, find: async () => person.user, field: 'password' });
    await changeAddress(parts, person, person.user, email);
    // The change has ended all sign-in sessions, including this one.
    response.json(await startSession(parts, request, response, await requirePerson(person.id), opener));
  });
  return routes;

  async function requirePerson(id: string): Promise<UserRecord> {
    const user = await users.find(id);
    if (!user) throw notFound();
    return user;
  }
}
