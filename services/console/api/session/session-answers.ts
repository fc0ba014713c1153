import type { SessionFacts, SessionStore } from '#shared/accounts/sign-in/session-store.ts';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import type { PersonsSession } from '../../contract/sessions.ts';
import { browserName } from './browser-name.ts';

/** Returns the sign-in sessions of a person. @param current the hash of the session of this request */
export async function sessionAnswers(
  sessions: Pick<SessionStore, 'listOf'>,
  user: UserRecord,
  current?: string,
): Promise<PersonsSession[]> {
  return (await sessions.listOf(user)).map((session) => answerOf(session, current));
}

function answerOf(
  { hash, startedAt, usedAt, provider, address, agent }: SessionFacts,
  current?: string,
): PersonsSession {
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
