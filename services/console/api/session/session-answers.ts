import type { SignInSessionSummary, SignInSessionStore } from '#shared/accounts/sign-in/session-store.ts';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import type { ListedSignInSession } from '../../contract/sessions.ts';
import { browserName } from './browser-name.ts';

/**
 * Returns the sign-in sessions of a person.
 * @param current the hash of the session of this request
 */
export async function sessionAnswers(
  sessions: Pick<SignInSessionStore, 'listOfPerson'>,
  user: UserRecord,
  current?: string,
): Promise<ListedSignInSession[]> {
  return (await sessions.listOfPerson(user)).map((session) => answerOf(session, current));
}

function answerOf(
  { hash, startedAt, usedAt, provider, address, agent }: SignInSessionSummary,
  current?: string,
): ListedSignInSession {
  return {
    id: hash,
    ...(hash === current && { current: true }),
    startedAt,
    usedAt,
    ...(address !== undefined && { address }),
    browser: browserName(agent),
    ...(provider !== undefined && { provider }),
  };
}
