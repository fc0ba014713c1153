import { createContext, useContext } from 'react';
import type { Session } from '../../contract/account.ts';

/** Who is signed in; there is always somebody where it is used. */
export const SessionContext = createContext<Session | undefined>(undefined);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('nobody is signed in here');
  return session;
}

export function useIsAdmin(): boolean {
  return useSession().user.role === 'admin';
}
