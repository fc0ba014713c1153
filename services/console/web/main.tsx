import { createRoot } from 'react-dom/client';
import '@mantine/core/styles.css';
import './styles.css';
import { fetchSession, queryClient, sessionKey } from './api/query-client.ts';
import { App } from './app.tsx';
import { isAt, places } from './shell/places.ts';
import { styleNonce } from './style-nonce.ts';

// Who is signed in and the page that was asked for are fetched side by side, before there is anything to show.
void queryClient.prefetchQuery({ queryKey: sessionKey, queryFn: fetchSession });
places.find((place) => isAt(place, window.location.pathname))?.preload();

const place = document.querySelector('#root');
if (!place) throw new Error('the page has no place for the console');
createRoot(place).render(<App nonce={styleNonce()} />);
