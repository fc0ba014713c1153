import { useParams } from 'wouter';
import { LogPage } from './log-page.tsx';
import { OneRequest } from './one-request.tsx';

/** Shows the log of requests; with an id in the address, the one request. */
export function Requests() {
  const id = useParams()['*'];
  return id === undefined || id === '' ? <LogPage /> : <OneRequest key={id} id={decoded(id)} />;
}

/** Decodes a part of the address, in which a colon may be written as `%3A`. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
