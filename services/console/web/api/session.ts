import { createContext, useContext } from 'react';
import { type SignInSession, localAccountsOff } from '../../contract/sign-in.ts';
import { ApiFailure, callApi, setCsrfToken, setSignOutListener } from './call-api.ts';
import { queryClient } from './use-api.ts';

/** The signed-in person's session. The context has a value around every component that calls `useSession`. */
export const SessionContext = createContext<SignInSession | undefined>(undefined);

export function useSession(): SignInSession {
  const session = useContext(SessionContext);
  if (!session) throw new Error('nobody is signed in here');
  return session;
}

export function useIsAdmin(): boolean {
  return useSession().user.role === 'admin';
}

export const sessionKey = ['/session'];

/** Whether the last session has ended because local accounts were switched off. */
let endedByPolicy = false;

export function isEndedByPolicy(): boolean {
  return endedByPolicy;
}

setSignOutListener((failure) => {
  // Never reset here: after the first refusal, other requests are aborted, and their failures have no code.
  endedByPolicy ||= failure.code === localAccountsOff;
  setSession(null);
});

/** Sets the session. A change of person, or a sign-out, clears all cached answers. */
export function setSession(session: SignInSession | null): void {
  applySession(session);
  queryClient.setQueryData(sessionKey, session);
}

/**
 * Reads the session from the API; null when nobody is signed in. If another tab has signed somebody else in, all cached answers are
 * cleared, as by `setSession`.
 */
export async function fetchSession(): Promise<SignInSession | null> {
  const session = await readSession();
  applySession(session);
  return session;
}

function applySession(session: SignInSession | null): void {
  const previousSession = queryClient.getQueryData<SignInSession | null>(sessionKey);
  setCsrfToken(session?.csrfToken);
  if (session) endedByPolicy = false;
  if (previousSession !== undefined && previousSession?.user.id !== session?.user.id)
    queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey !== sessionKey });
}

async function readSession(): Promise<SignInSession | null> {
  try {
    return await callApi<SignInSession>('GET', '/session');
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.status !== 401) throw error;
    endedByPolicy ||= error.code === localAccountsOff;
    return null;
  }
}
