import type { SignInSessionSummary, SignInSessionStore } from '#shared/accounts/sign-in/session-store.ts';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import type { ListedSignInSession } from '../../contract/sessions.ts';

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
