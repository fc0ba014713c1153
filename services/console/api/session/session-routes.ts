import { Router, type Request, type Response } from 'express';
import { z } from 'zod';
import { emailSchema } from '#shared/accounts/people/user.ts';
import { passwordLength } from '#shared/accounts/sign-in/passwords.ts';
import type { SignOutAnswer } from '../../contract/sign-in.ts';
import { announceChange, writeAudit, type ApiParts } from '../api-parts.ts';
import { openSessionOrSecondStep, startSession } from './start-session.ts';
import { hashNewPassword } from './hash-new-password.ts';
import { provePassword, wrongCredentials } from './prove-password.ts';
import { parse } from '../parse.ts';
import { clearSessionCookie } from './cookies.ts';
import { requireLocalAccounts, requireSession, toSessionAnswer, getSignedIn } from './signed-in.ts';

const passwordInput = z.string().min(1, 'Enter a password.').max(passwordLength.max, 'The password is too long.');
const credentials = z.strictObject({ email: emailSchema, password: passwordInput });
const passwordChange = z.strictObject({ current: passwordInput, next: z.string() });

export function sessionRoutes(parts: ApiParts): Router {
  const { accounts } = parts;
  const requireSignedIn = requireSession(accounts);
  // Routes that end sessions do not ask the person's provider, so that people can sign out while the provider does not answer.
  const requireSignedInWithoutProvider = requireSession(accounts, { asks: false });
  const routes = Router({ caseSensitive: true, strict: true });
  routes.post('/session', async (request, response) => {
    requireLocalAccounts(parts);
    const { email, password } = parse(credentials, request.body);
    const user = await provePassword(parts, request, {
      email,
      password,
      find: () => accounts.users.findByEmail(email),
    });
    response.json(await openSessionOrSecondStep(parts, request, response, user, {}));
  });
  routes.get('/session', requireSignedIn, async (_, response) => {
    const { user, sessionId } = getSignedIn(response);
    response.json(await toSessionAnswer(accounts, user, sessionId));
  });
  routes.delete('/session', requireSignedInWithoutProvider, async (request, response) => {
    const { sessionId } = getSignedIn(response);
    const { provider } = await accounts.sessions.readOpener(sessionId);
    await accounts.sessions.end(sessionId);
    const url = provider && (await parts.signOutPage(request, provider));
    if (!url) return answerSignedOut(request, response);
    clearSessionCookie(request, response);
    response.json({ url } satisfies SignOutAnswer);
  });
  routes.delete('/sessions', requireSignedInWithoutProvider, async (request, response) => {
    const { id } = getSignedIn(response);
    await announceChange(parts, `user:${id}`, () => accounts.users.signOut(id));
    answerSignedOut(request, response);
  });
  routes.post('/password', requireSignedIn, async (request, response) => {
    const { user, sessionId } = getSignedIn(response);
    const opener = await accounts.sessions.readOpener(sessionId);
    requireLocalAccounts(parts, opener);
    const { current, next } = parse(passwordChange, request.body);
    const { email, name } = user;
    const proven = await provePassword(parts, request, {
      email,
      password: current,
      find: async () => user,
      field: 'current',
    });
    const hash = await hashNewPassword(parts, request, { password: next, personalTexts: [name, email], field: 'next' });
    const isChanged = await announceChange(parts, `user:${user.id}`, () =>
      accounts.users.changePassword(user.id, proven.passwordHash, hash),
    );
    if (!isChanged) throw wrongCredentials('current');
    await writeAudit(parts, user, {
      action: 'user.password',
      target: { kind: 'user', id: user.id, name },
      details: {},
    });
    const changedUser = await accounts.users.find(user.id);
    if (!changedUser) throw wrongCredentials('current');
    response.json(await startSession(parts, request, response, changedUser, opener));
  });
  return routes;
}

function answerSignedOut(request: Request, response: Response): void {
  clearSessionCookie(request, response);
  response.status(204).end();
}
