import type { SignInSessionSummary, SignInSessionStore } from '#shared/accounts/sign-in/session-store.ts';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import type { ListedSignInSession } from '../../contract/sessions.ts';
import { describeBrowser } from './describe-browser.ts';

/**
 * @param currentHash the hash of this request's session, which is marked as current
 */
export async function listSignInSessions(
  sessions: Pick<SignInSessionStore, 'listOfPerson'>,
  user: UserRecord,
  currentHash?: string,
): Promise<ListedSignInSession[]> {
  return (await sessions.listOfPerson(user)).map((session) => toAnswer(session, currentHash));
}

function toAnswer(
  { hash, startedAt, usedAt, provider, address, agent }: SignInSessionSummary,
  currentHash?: string,
): ListedSignInSession {
  return {
    id: hash,
    ...(hash === currentHash && { current: true }),
    startedAt,
    usedAt,
    ...(address !== undefined && { address }),
    browser: describeBrowser(agent),
    ...(provider !== undefined && { provider }),
  };
}
