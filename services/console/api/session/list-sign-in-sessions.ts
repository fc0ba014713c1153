import type { SignInSessionSummary, SignInSessionStore } from '#shared/accounts/sign-in/session-store.ts';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import type { ListedSignInSession } from '../../contract/sessions.ts';
import { Router } from 'express';
import { notFound } from '../api-failure.ts';
import { writeAudit, type ApiParts } from '../api-parts.ts';
import { getSignedIn } from './signed-in.ts';

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

/** The marks of browsers in a user agent. The order matters: the user agents of Edge and Opera contain the mark of Chrome too. */
const browsers: readonly [RegExp, string][] = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bHeadlessChrome\/|\bChrome\/|\bCriOS\//, 'Chrome'],
  [/\bVersion\/.*\bSafari\//, 'Safari'],
];

const systems: readonly [RegExp, string][] = [
  [/\bAndroid\b/, 'Android'],
  [/\biPhone\b|\biPad\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

/** Returns the common name of the browser with this user agent, for example `Firefox on Linux`. */
export function describeBrowser(agent = ''): string {
  const findName = (list: typeof browsers) => list.find(([mark]) => mark.test(agent))?.[1];
  const [browser = 'A browser', system] = [findName(browsers), findName(systems)];
  return system === undefined ? browser : `${browser} on ${system}`;
}

export function sessionListRoutes(parts: ApiParts): Router {
  const { sessions } = parts.accounts;
  const routes = Router({ caseSensitive: true, strict: true });
  routes.get('/sessions', async (_, response) => {
    const { user, sessionId } = getSignedIn(response);
    response.json(await listSignInSessions(sessions, user, sessions.hashOf(sessionId)));
  });
  routes.delete('/sessions/:id', async (request, response) => {
    const person = getSignedIn(response);
    const { id, name } = person;
    if (!(await sessions.endByHash(id, request.params.id))) throw notFound();
    await writeAudit(parts, person, { action: 'session.end', target: { kind: 'user', id, name }, details: {} });
    response.status(204).end();
  });
  return routes;
}
