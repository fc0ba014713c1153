import { createRoot } from 'react-dom/client';
import '@mantine/core/styles.css';
import './styles.css';
import { fetchSession, sessionKey } from './api/session.ts';
import { queryClient } from './api/use-api.ts';
import { App } from './app.tsx';
import { isAt, places } from './shell/places.ts';

/** The nonce that style elements made at run time must carry: the page's policy allows no others. */
export function styleNonce(): string {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.nonce ?? '';
  // The library that locks scrolling behind dialogs reads it here.
  Object.assign(globalThis, { __webpack_nonce__: nonce });
  return nonce;
}

// The session and the requested page's code load in parallel, before anything is rendered.
void queryClient.prefetchQuery({ queryKey: sessionKey, queryFn: fetchSession });
places.find((place) => isAt(place, window.location.pathname))?.preload();

const place = document.querySelector('#root');
if (!place) throw new Error('the page has no place for the console');
createRoot(place).render(<App nonce={styleNonce()} />);
