import type { Request, Response } from 'express';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import type { SessionOpener } from '#shared/accounts/sign-in/session-store.ts';
import type { SignInAnswer } from '../../contract/second-factor.ts';
import type { ApiParts } from '../api-parts.ts';
import { startSession } from '../session/start-session.ts';
import { setPendingCookie } from './pending-cookie.ts';

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
