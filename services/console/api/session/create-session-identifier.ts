import type { Request } from 'express';
import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import { createPersonIdentity } from '#shared/accounts/people/person-identity.ts';
import { type SignInSessionStore, isCsrfToken } from '#shared/accounts/sign-in/session-store.ts';
import { RouterError } from '#shared/core/errors.ts';
import { isSameOrigin } from '#shared/core/same-origin.ts';
import type { PersonSession } from '../second-factor/require-second-factor.ts';
import { readSessionId } from './cookies.ts';

/**
 * Creates the function that identifies the senders of API requests from pages of the console. Such a request acts as the signed-in person,
 * like a request with a key of the person. Requests of every method need the CSRF token, so that no other page can use the person's budget.
 * @param isDemanded see `createDemandCheck`
 * @returns a function that returns undefined for a request without a session or without the token
 * @throws RouterError `permission_denied` for a wrong token or another origin, `invalid_api_key` when the session has ended
 */
export function createSessionIdentifier(
  sessions: Pick<SignInSessionStore, 'find'>,
  isDemanded: (session: PersonSession) => Promise<boolean>,
) {
  return async (request: Request): Promise<KeyIdentity | undefined> => {
    const sessionId = readSessionId(request);
    const csrfToken = request.get('x-csrf-token');
    if (sessionId === undefined || csrfToken === undefined) return undefined;
    if (!isSameOrigin(request) || !isCsrfToken(sessionId, csrfToken)) {
      throw new RouterError('permission_denied', 'This request does not come from a page of the signed-in person.');
    }
    const user = await sessions.find(sessionId);
    if (!user) throw new RouterError('invalid_api_key', 'Your session has ended. Please sign in again.');
    if (await isDemanded({ user, sessionId })) {
      throw new RouterError('permission_denied', 'Set a second factor up first, in the console under Account.');
    }
    return createPersonIdentity(user);
  };
}
