import { createRoot } from 'react-dom/client';
import '@mantine/core/styles.css';
import './styles.css';
import { fetchSession, sessionKey } from './api/session.ts';
import { queryClient } from './api/use-api.ts';
import { App } from './app.tsx';
import { isAt, places } from './shell/places.ts';

/** What libraries that make style elements while they run must mark them with: the page's policy allows no others. */
export function styleNonce(): string {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.nonce ?? '';
  // Where the library that keeps the page from scrolling behind a dialog looks for it.
  Object.assign(globalThis, { __webpack_nonce__: nonce });
  return nonce;
}

// Who is signed in and the page that was asked for are fetched side by side, before there is anything to show.
void queryClient.prefetchQuery({ queryKey: sessionKey, queryFn: fetchSession });
places.find((place) => isAt(place, window.location.pathname))?.preload();

const place = document.querySelector('#root');
if (!place) throw new Error('the page has no place for the console');
createRoot(place).render(<App nonce={styleNonce()} />);
