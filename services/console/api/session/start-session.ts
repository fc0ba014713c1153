import type { Request, Response } from 'express';
import type { SessionOpener } from '#shared/accounts/sign-in/session-store.ts';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import type { SignInSession } from '../../contract/sign-in.ts';
import { ApiFailure } from '../api-failure.ts';
import type { ApiParts } from '../api-parts.ts';
import { readSessionId, setSessionCookie, setPendingCookie } from './cookies.ts';
import { toSessionAnswer } from './signed-in.ts';
import type { SignInAnswer } from '../../contract/second-factor.ts';

/**
 * Signs a person in. The session always gets a new id, so that nobody can have planted the id before (OWASP Session Management Cheat Sheet,
 * "Renew the Session ID After Any Privilege Level Change"). The browser's previous session ends.
 * @param opener how the person has proven who they are
 */
export async function startSession(
  { accounts, devices }: Pick<ApiParts, 'accounts' | 'devices'>,
  request: Request,
  response: Response,
  user: UserRecord,
  opener: SessionOpener,
): Promise<SignInSession> {
  const previousId = readSessionId(request);
  if (previousId !== undefined) await accounts.sessions.end(previousId);
  const origin = { ...opener, address: request.ip, agent: request.get('user-agent') };
  const sessionId = await accounts.sessions.open(user, origin);
  if (sessionId === undefined) throw new ApiFailure(401, 'signed_out', 'You were signed out. Sign in again.');
  setSessionCookie(request, response, sessionId);
  devices.remember(request, response, user);
  return toSessionAnswer(accounts, user, sessionId);
}

/**
 * Opens a session for a person who has sent the right password or link. For a person with a second factor, begins the second step instead.
 */
export async function openSessionOrSecondStep(
  parts: ApiParts,
  request: Request,
  response: Response,
  user: UserRecord,
  opener: SessionOpener,
): Promise<SignInAnswer> {
  const { secondFactors } = parts;
  if (!(await secondFactors.has(user.id))) return startSession(parts, request, response, user, opener);
  const { totp, passkeys } = await secondFactors.find(user.id);
  setPendingCookie(request, response, await secondFactors.beginSignIn(user, opener));
  return { secondStep: { app: totp !== undefined, passkeys: passkeys.length > 0 } };
}
