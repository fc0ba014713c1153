import type { NextFunction, Request, Response } from 'express';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import { ApiFailure } from '../api-failure.ts';
import type { ApiParts } from '../api-parts.ts';
import { signedInOf } from '../session/signed-in.ts';

export interface FactorClaim {
  user: UserRecord;
  sessionId: string;
}

/**
 * Creates the check whether an administrator demands a second factor of a person who has none. Only local accounts need one, because an
 * identity provider asks for a second factor itself.
 */
export function secondFactorDemand(parts: Pick<ApiParts, 'accounts' | 'secondFactors'>) {
  return async ({ user, sessionId }: FactorClaim): Promise<boolean> =>
    (await lacksSecondFactor(parts, user.id)) &&
    (await parts.accounts.sessions.readOpener(sessionId)).provider === undefined;
}

/** Returns whether second factors are demanded and the person has none. */
export async function lacksSecondFactor(
  { accounts, secondFactors }: Pick<ApiParts, 'accounts' | 'secondFactors'>,
  userId: string,
): Promise<boolean> {
  const { requireSecondFactor } = await accounts.settings.read();
  return requireSecondFactor && !(await secondFactors.has(userId));
}

export function secondFactorDemanded(): ApiFailure {
  return new ApiFailure(403, 'second_factor_demanded', 'Set a second factor up first, under Account.');
}

/**
 * Creates the middleware that refuses all later routes to a person who lacks a demanded second factor.
 * @throws ApiFailure 403
 */
export function requireSecondFactor(isDemanded: (claim: FactorClaim) => Promise<boolean>) {
  return async (_: Request, response: Response, next: NextFunction): Promise<void> => {
    if (await isDemanded(signedInOf(response))) {
      throw secondFactorDemanded();
    }
    next();
  };
}
