import type { NextFunction, Request, Response } from 'express';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import { ApiFailure } from '../api-failure.ts';
import type { ApiParts } from '../api-parts.ts';
import { getSignedIn } from '../session/signed-in.ts';

export interface PersonSession {
  user: UserRecord;
  sessionId: string;
}

/**
 * Creates the check whether a person must set up a second factor: an administrator demands one, and the person has none. Sessions that were
 * opened at an identity provider need none, because the provider asks for a second factor itself.
 */
export function createDemandCheck(parts: Pick<ApiParts, 'accounts' | 'secondFactors'>) {
  return async ({ user, sessionId }: PersonSession): Promise<boolean> =>
    (await lacksSecondFactor(parts, user.id)) &&
    (await parts.accounts.sessions.readOpener(sessionId)).provider === undefined;
}

/** Returns whether the settings demand a second factor of everybody and the person has none. */
export async function lacksSecondFactor(
  { accounts, secondFactors }: Pick<ApiParts, 'accounts' | 'secondFactors'>,
  userId: string,
): Promise<boolean> {
  const { requireSecondFactor } = await accounts.settings.read();
  return requireSecondFactor && !(await secondFactors.has(userId));
}

export function secondFactorFailure(): ApiFailure {
  return new ApiFailure(403, 'second_factor_demanded', 'Set a second factor up first, under Account.');
}

/**
 * Creates the middleware that refuses all later routes to a person who lacks a demanded second factor.
 * @throws ApiFailure 403
 */
export function requireSecondFactor(isDemanded: (session: PersonSession) => Promise<boolean>) {
  return async (_: Request, response: Response, next: NextFunction): Promise<void> => {
    if (await isDemanded(getSignedIn(response))) {
      throw secondFactorFailure();
    }
    next();
  };
}
