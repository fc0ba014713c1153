import { useParams } from 'wouter';
import { LogPage } from './log-page.tsx';
import { OneRequest } from './one-request.tsx';

/** Shows the log of requests. If the URL contains an id, it shows the requests with this id. */
export function Requests() {
  const id = useParams()['*'];
  return id === undefined || id === '' ? <LogPage /> : <OneRequest key={id} id={decodePart(id)} />;
}

/** Decodes a part of the URL, in which a colon may be written as `%3A`. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
