import { Router, type Request, type Response } from 'express';
import { z } from 'zod';
import { emailSchema, type UserRecord } from '#shared/accounts/people/user.ts';
import { passwordLength } from '#shared/accounts/sign-in/passwords.ts';
import type { SignOutAnswer } from '../../contract/sign-in.ts';
import { ApiFailure } from '../api-failure.ts';
import { record, type ApiParts } from '../api-parts.ts';
import { newPasswordHash } from './new-password-hash.ts';
import { openSession } from './open-session.ts';
import { parse } from '../parse.ts';
import { clearSessionCookie } from './session-cookie.ts';
import { requireLocalAccounts } from './require-local-accounts.ts';
import { requireSession, sessionAnswer, signedInOf } from './signed-in.ts';

const givenPassword = z.string().min(1, 'Enter a password.').max(passwordLength.max, 'The password is too long.');
const credentials = z.strictObject({ email: emailSchema, password: givenPassword });
const passwordChange = z.strictObject({ current: givenPassword, next: z.string() });

/** Signing in and out, and changing one's password. */
export function sessionRoutes(parts: ApiParts): Router {
  const { accounts } = parts;
  const signedIn = requireSession(accounts);
  const routes = Router();
  routes.post('/session', async (request, response) => {
    requireLocalAccounts(parts);
    const { email, password } = parse(credentials, request.body);
    const user = await prove(parts, request, { email, password, find: () => accounts.users.findByEmail(email) });
    response.json(await openSession(parts, request, response, user));
  });
  routes.get('/session', signedIn, async (_, response) => {
    const { user, sessionId } = signedInOf(response);
    response.json(await sessionAnswer(accounts.teams, user, sessionId));
  });
  routes.delete('/session', signedIn, async (request, response) => {
    const { sessionId } = signedInOf(response);
    const provider = await accounts.sessions.providerOf(sessionId);
    await accounts.sessions.end(sessionId);
    const url = provider && (await parts.signOutPage(request, provider));
    if (!url) return endAnswer(request, response);
    clearSessionCookie(request, response);
    response.json({ url } satisfies SignOutAnswer);
  });
  routes.delete('/sessions', signedIn, async (request, response) => {
    const { id } = signedInOf(response);
    await accounts.users.endSessions(id);
    await parts.announce(`user:${id}`);
    endAnswer(request, response);
  });
  routes.post('/password', signedIn, async (request, response) => {
    const { current, next } = parse(passwordChange, request.body);
    const { user } = signedInOf(response);
    const { email, name } = user;
    const proven = await prove(parts, request, { email, password: current, find: async () => user, field: 'current' });
    const hash = await newPasswordHash(parts, request, { password: next, known: [name, email], field: 'next' });
    if (!(await accounts.users.changePassword(user.id, proven.passwordHash, hash))) throw wrongCredentials('current');
    await parts.announce(`user:${user.id}`);
    await record(parts, user, { action: 'user.password', target: { kind: 'user', id: user.id, name }, details: {} });
    const changed = await accounts.users.find(user.id);
    if (!changed) throw wrongCredentials('current');
    response.json(await openSession(parts, request, response, changed));
  });
  return routes;
}

/**
 * Checks a password and returns its person. The answer and the time it takes are the same for an unknown address, a wrong
 * password and a blocked person.
 */
async function prove(parts: ApiParts, request: Request, { email, password, find, field }: Claim): Promise<UserRecord> {
  const { accounts, passwords, devices } = parts;
  const address = request.ip ?? '';
  const user = await find();
  const attempt = { address, email, device: devices.find(request, user) };
  const { waitMs, isNews } = await accounts.guard.take(attempt);
  if (isNews) {
    await record(parts, null, { action: 'session.refused', target: null, details: { address, email } });
  }
  if (waitMs > 0) {
    const retryAfter = Math.ceil(waitMs / 1_000);
    const message = `Too many attempts to sign in. Try again in ${Math.ceil(retryAfter / 60)} minutes.`;
    throw new ApiFailure(429, 'too_many_attempts', message, { retryAfter });
  }
  const matches = await passwords.matches(address, user?.passwordHash, password).catch(async (error: unknown) => {
    // An overload counts against nobody: otherwise a flood would lock out everyone who signs in meanwhile.
    await accounts.guard.withdraw(attempt);
    throw error;
  });
  if (!matches || !user || user.blockedAt !== undefined) throw wrongCredentials(field);
  await accounts.guard.giveBack(attempt);
  return user;
}

interface Claim {
  email: string;
  password: string;
  find: () => Promise<UserRecord | undefined>;
  field?: string;
}

function wrongCredentials(field?: string): ApiFailure {
  if (field === undefined) {
    return new ApiFailure(401, 'wrong_credentials', 'The e-mail address or the password is wrong.');
  }
  return new ApiFailure(403, 'wrong_credentials', 'This is not your password.', { field });
}

function endAnswer(request: Request, response: Response): void {
  clearSessionCookie(request, response);
  response.status(204).end();
}
