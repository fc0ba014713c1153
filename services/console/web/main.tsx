import { createRoot } from 'react-dom/client';
import '@mantine/core/styles.css';
import './styles.css';
import { fetchSession, sessionKey } from './api/session.ts';
import { liveStore } from './api/live-store.ts';
import { queryClient } from './api/use-api.ts';
import { App } from './app.tsx';
import { isAt, pages } from './shell/places.ts';

/** Returns the nonce that style elements made at run time must carry, because the page's policy allows no others. */
export function styleNonce(): string {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.nonce ?? '';
  // The library that locks scrolling behind dialogs reads the nonce here.
  Object.assign(globalThis, { __webpack_nonce__: nonce });
  return nonce;
}

/** Milliseconds that the first rendering waits for the first page's code. The code may still load later. */
const codeMs = 3_000;

// The session, the requested page's code and the live data load at the same time. The first rendering waits for the code, because React
// delays the content after a fallback by 300 ms.
const first = pages.find((each) => isAt(each, window.location.pathname));
const code = first?.preload();
const queryFn = async () => {
  const session = await fetchSession();
  if (session && first) {
    liveStore.connect();
    await Promise.race([code, new Promise((resolve) => window.setTimeout(resolve, codeMs))]);
  }
  return session;
};
void queryClient.prefetchQuery({ queryKey: sessionKey, queryFn });

const place = document.querySelector('#root');
if (!place) throw new Error('the page has no place for the console');
createRoot(place).render(<App nonce={styleNonce()} />);
