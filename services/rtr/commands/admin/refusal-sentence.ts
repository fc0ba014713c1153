import { CallError } from '../client/call-error.ts';

/** An answer of the Admin API that refuses a request. */
export interface Refusal {
  status: number;
  text: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The router. */
  url: string;
  /** Below the Admin API. */
  path: string;
  /** What to say where the router does not know the token. */
  unknownToken: string;
}

interface Said {
  code?: unknown;
  message?: unknown;
  field?: unknown;
}

/** A refusal as an error for the user. */
export function refusalError(refusal: Refusal): CallError {
  const { code, field } = readError(refusal.text);
  const details = { ...(typeof code === 'string' && { code }), ...(typeof field === 'string' && { field }) };
  return new CallError(refusal.status, refusalSentence(refusal), details);
}

/** What is wrong with a request, in a sentence or two for the user. */
function refusalSentence({ status, text, headers, url, path, unknownToken }: Refusal): string {
  const { code, message, field } = readError(text);
  if (typeof message !== 'string') {
    if (status === 404) return `What answers at ${url} has no Admin API: is RTR_URL right, and the router up to date?`;
    return `The router at ${url} answered with status ${status}.`;
  }
  if (status === 401) return unknownToken;
  if (code === 'permission_denied') return `${message} The admin token has the rights of the person who made it.`;
  if (status === 404) return `${message} (${decodeURIComponent(path)})`;
  const after = headers['retry-after'];
  const again = typeof after === 'string' ? ` Try again in ${after} s.` : '';
  // The mistakes of a registry name their place themselves.
  const place = typeof field === 'string' && !message.includes(field) ? `${field}: ` : '';
  return `${place}${message}${again}`;
}

function readError(text: string): Said {
  try {
    return (JSON.parse(text) as { error?: Said } | null)?.error ?? {};
  } catch {
    return {};
  }
}
