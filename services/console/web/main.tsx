import { createRoot } from 'react-dom/client';
import '@mantine/core/styles.css';
import './styles.css';
import { fetchSession, sessionKey } from './api/session.ts';
import { liveStore } from './api/live-store.ts';
import { queryClient } from './api/use-api.ts';
import { App } from './app.tsx';
import { isPageAt, pages } from './shell/pages.ts';

/** Returns the nonce that style elements made at run time must carry, because the page's policy allows no other style elements. */
export function readStyleNonce(): string {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.nonce ?? '';
  // The library that locks scrolling behind dialogs reads the nonce here.
  Object.assign(globalThis, { __webpack_nonce__: nonce });
  return nonce;
}

/** The maximum milliseconds that the first rendering waits for the first page's code. The code may still load later. */
const maxCodeWaitMs = 3_000;

// The session, the first page's code and the live data load at the same time. The first rendering waits for the code, because React delays
// the content after a fallback by 300 ms.
const firstPage = pages.find((each) => isPageAt(each, window.location.pathname));
const codeLoaded = firstPage?.preload();
const queryFn = async () => {
  const session = await fetchSession();
  if (session && firstPage) {
    liveStore.connect();
    await Promise.race([codeLoaded, new Promise((resolve) => window.setTimeout(resolve, maxCodeWaitMs))]);
  }
  return session;
};
void queryClient.prefetchQuery({ queryKey: sessionKey, queryFn });

const root = document.querySelector('#root');
if (!root) throw new Error('the page has no place for the console');
createRoot(root).render(<App nonce={readStyleNonce()} />);
