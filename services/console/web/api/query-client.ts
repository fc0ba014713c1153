import { QueryClient } from '@tanstack/react-query';
import { ApiFailure, callApi, setCsrfToken, whenSignedOut } from './call-api.ts';
import type { Session } from '../../contract/account.ts';

/** What the pages know of the API's answers. What the live stream tells is not asked for again and again here. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // Only what may be different the next time is asked for again.
      retry: (count, error) => count < 2 && error instanceof ApiFailure && (error.status === 0 || error.status >= 502),
    },
  },
});

export const sessionKey = ['/session'];

whenSignedOut(() => setSession(null));

/** Takes note of who is signed in: on another one, or none, all that was known is forgotten. */
export function setSession(session: Session | null): void {
  const before = queryClient.getQueryData<Session | null>(sessionKey);
  setCsrfToken(session?.csrfToken);
  if (before?.user.id !== session?.user.id)
    queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey !== sessionKey });
  queryClient.setQueryData(sessionKey, session);
}

/** Who is signed in, as the API says it; null: nobody. */
export async function fetchSession(): Promise<Session | null> {
  try {
    const session = await callApi<Session>('GET', '/session');
    setCsrfToken(session.csrfToken);
    return session;
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 401) return null;
    throw error;
  }
}
