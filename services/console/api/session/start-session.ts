import type { Request, Response } from 'express';
import type { SessionOpener } from '#shared/accounts/sign-in/session-store.ts';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import type { SignInSession } from '../../contract/account.ts';
import { ApiFailure } from '../api-failure.ts';
import type { ApiParts } from '../api-parts.ts';
import { sessionIdOf, setSessionCookie } from './session-cookie.ts';
import { toSessionAnswer } from './signed-in.ts';

/**
 * Signs a person in. The session always has a new id, which nobody can have known before (OWASP Session Management Cheat Sheet, "Renew the
 * Session ID After Any Privilege Level Change"). The browser's previous session ends.
 * @param opener how the person was let in
 */
export async function startSession(
  { accounts, devices }: Pick<ApiParts, 'accounts' | 'devices'>,
  request: Request,
  response: Response,
  user: UserRecord,
  opener: SessionOpener,
): Promise<SignInSession> {
  const before = sessionIdOf(request);
  if (before !== undefined) await accounts.sessions.end(before);
  const origin = { ...opener, address: request.ip, agent: request.get('user-agent') };
  const sessionId = await accounts.sessions.open(user, origin);
  if (sessionId === undefined) throw new ApiFailure(401, 'signed_out', 'You were signed out. Sign in again.');
  setSessionCookie(request, response, sessionId);
  devices.remember(request, response, user);
  return toSessionAnswer(accounts, user, sessionId);
}
