import { Router } from 'express';
import { z } from 'zod';
import { displayNameSchema, emailSchema, type UserRecord } from '#shared/accounts/people/user.ts';
import { requireAccess } from '../access.ts';
import { ApiFailure, notFound } from '../api-failure.ts';
import { record, type ApiParts } from '../api-parts.ts';
import { parse } from '../parse.ts';
import { provePassword } from '../session/prove-password.ts';
import { openSession } from '../session/open-session.ts';
import { sessionAnswer, signedInOf, type SignedIn } from '../session/signed-in.ts';

const rename = z.strictObject({ name: displayNameSchema });
const newEmail = z.strictObject({ email: emailSchema, password: z.string().min(1).max(200) });
const profile = z.strictObject({ name: displayNameSchema.optional(), email: emailSchema.optional() });

/** The name and the address of a person: to change for oneself, and by administrators for everybody. */
export function profileRoutes(parts: ApiParts): Router {
  const { users, teams } = parts.accounts;
  const routes = Router();
  routes.patch('/account', async (request, response) => {
    const person = signedInOf(response);
    await changeName(person, person.user, parse(rename, request.body).name);
    response.json(await sessionAnswer(teams, await found(person.id), person.sessionId));
  });
  routes.post('/account/email', async (request, response) => {
    const person = signedInOf(response);
    const { email, password } = parse(newEmail, request.body);
    const { email: before } = person.user;
    await provePassword(parts, request, { email: before, password, find: async () => person.user, field: 'password' });
    await changeAddress(person, person.user, email);
    // All sessions have ended, this one too.
    response.json(await openSession(parts, request, response, await found(person.id)));
  });
  routes.patch('/users/:user/profile', async (request, response) => {
    const person = signedInOf(response);
    requireAccess('user.manage', person);
    const user = await found(request.params.user);
    const { name, email } = parse(profile, request.body);
    if (name !== undefined) await changeName(person, user, name);
    if (email !== undefined && email !== user.email) await changeAddress(person, user, email);
    response.status(204).end();
  });
  return routes;

  async function found(id: string): Promise<UserRecord> {
    const user = await users.find(id);
    if (!user) throw notFound();
    return user;
  }

  async function changeName(person: SignedIn, { id, name: before }: UserRecord, name: string): Promise<void> {
    if (!(await users.rename(id, name))) throw notFound();
    // Access tokens and the names of keys' owners say it.
    await parts.announce(`user:${id}`);
    const target = { kind: 'user', id, name };
    await record(parts, person, { action: 'user.rename', target, details: { before, after: name } });
  }

  async function changeAddress(
    person: SignedIn,
    { id, name, email: before }: UserRecord,
    email: string,
  ): Promise<void> {
    const outcome = await users.changeEmail(id, email);
    if (outcome === 'unknown') throw notFound();
    if (outcome === 'email taken') {
      const message = 'An account with this e-mail address exists already.';
      throw new ApiFailure(409, 'email_taken', message, { field: 'email' });
    }
    await parts.announce(`user:${id}`);
    await record(parts, person, {
      action: 'user.email',
      target: { kind: 'user', id, name },
      details: { before, after: email },
    });
  }
}
