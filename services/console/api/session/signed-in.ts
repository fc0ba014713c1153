import type { NextFunction, Request, Response } from 'express';
import type { Accounts } from '#shared/accounts/accounts.ts';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import { computeCsrfToken, isCsrfToken } from '#shared/accounts/sign-in/session-store.ts';
import { isSameOrigin } from '#shared/core/same-origin.ts';
import { type SignInSession, localAccountsOff, signInFailures } from '../../contract/sign-in.ts';
import { getActor, setActor, type Actor } from '../actor.ts';
import { ApiFailure, forbidden } from '../api-failure.ts';
import { readSessionId } from './cookies.ts';
import type { SessionOpener } from '#shared/accounts/sign-in/session-store.ts';
import type { ApiParts } from '../api-parts.ts';

/** The signed-in person who sends a request from the console, with their session. */
export interface SignedIn extends Actor {
  user: UserRecord;
  sessionId: string;
}

const safeMethods = new Set(['GET', 'HEAD']);

/** Refuses requests from pages of other origins that change something. A sign-in counts as a change. */
export function requireSameOrigin(request: Request, _: Response, next: NextFunction): void {
  if (!safeMethods.has(request.method) && !isSameOrigin(request)) {
    throw forbidden('Pages of other origins may not do this.');
  }
  next();
}

/**
 * Creates the middleware that refuses requests without a session, and changes without the session's CSRF token.
 * @param asks whether the person's identity provider must confirm that it still admits the person; false for routes that end sessions
 */
export function requireSession({ sessions, teams }: Pick<Accounts, 'sessions' | 'teams'>, { asks = true } = {}) {
  return async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    const sessionId = readSessionId(request);
    const user = sessionId === undefined ? undefined : await sessions.find(sessionId, { asks });
    if (sessionId === undefined || user === undefined) {
      if (sessionId !== undefined && (await sessions.isSuspended(sessionId))) {
        throw new ApiFailure(401, localAccountsOff, signInFailures[localAccountsOff]);
      }
      throw new ApiFailure(401, 'signed_out', 'You are not signed in, or your session has ended.');
    }
    if (!safeMethods.has(request.method) && !isCsrfToken(sessionId, request.get('x-csrf-token') ?? '')) {
      throw new ApiFailure(403, 'csrf', 'This page is out of date. Reload it and try again.');
    }
    const { id, role, name, tokenEpoch } = user;
    const signedIn: SignedIn = {
      id,
      role,
      name,
      user,
      sessionId,
      tokenEpoch,
      address: request.ip ?? '',
      teams: await teams.teamsOf(id),
    };
    setActor(response, signedIn);
    next();
  };
}

/** Returns the sender of this request, whom `requireSession` must have identified before. */
export function getSignedIn(response: Response): SignedIn {
  return getActor(response) as SignedIn;
}

/** Converts the sign-in session of a person into the API's answer. */
export async function toSessionAnswer(
  { teams, settings }: Pick<Accounts, 'teams' | 'settings'>,
  { id, name, email, role, passwordHash, alertEmails = true }: UserRecord,
  sessionId: string,
): Promise<SignInSession> {
  const roles = await teams.teamsOf(id);
  const [found, { membersMakeKeys }] = await Promise.all([teams.findAll([...roles.keys()]), settings.read()]);
  return {
    user: {
      id,
      name,
      email,
      role,
      teams: found.map((team) => ({ id: team.id, name: team.name, role: roles.get(team.id) ?? 'member' })),
      ...(passwordHash !== '' && { hasPassword: true }),
      makesPersonalKeys: role === 'admin' || membersMakeKeys,
      alertEmails,
    },
    csrfToken: computeCsrfToken(sessionId),
  };
}

/**
 * Refuses passwords, invitations and other links if people may sign in only at providers. Links that an operator has printed stay allowed.
 * @throws ApiFailure 403
 */
export function requireLocalAccounts(
  { signIn }: Pick<ApiParts, 'signIn'>,
  { link }: Pick<SessionOpener, 'link'> = {},
): void {
  if (link === 'printed' || signIn().local_accounts) return;
  throw new ApiFailure(403, localAccountsOff, 'Here people sign in with their company account only.');
}
