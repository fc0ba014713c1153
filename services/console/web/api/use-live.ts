import { createContext, useContext, useSyncExternalStore } from 'react';
import { LiveStore, type LiveState } from './live-store.ts';

export const LiveContext = createContext(new LiveStore());

/** What goes on in the cluster right now; renders again with every piece of news. */
export function useLive(): LiveState {
  const store = useContext(LiveContext);
  return useSyncExternalStore(store.subscribe, store.state);
}
