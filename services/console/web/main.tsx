import { createRoot } from 'react-dom/client';
import '@mantine/core/styles.css';
import './styles.css';
import { App } from './app.tsx';
import { styleNonce } from './style-nonce.ts';

const place = document.querySelector('#root');
if (!place) throw new Error('the page has no place for the console');
createRoot(place).render(<App nonce={styleNonce()} />);
