import { CallError } from '../client/call-error.ts';

export interface Refusal {
  status: number;
  text: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  url: string;
  /** Path below the Admin API. */
  path: string;
  /** Message for a token that the router rejects. */
  unknownToken: string;
}

interface ErrorBody {
  code?: unknown;
  message?: unknown;
  field?: unknown;
}

export function toCallError(refusal: Refusal): CallError {
  const { code, field } = readError(refusal.text);
  const details = { ...(typeof code === 'string' && { code }), ...(typeof field === 'string' && { field }) };
  return new CallError(refusal.status, toSentence(refusal), details);
}

/** Explains a refusal to the user, in a sentence or two. */
function toSentence({ status, text, headers, url, path, unknownToken }: Refusal): string {
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
  // Messages about a registry already name the field.
  const place = typeof field === 'string' && !message.includes(field) ? `${field}: ` : '';
  return `${place}${message}${again}`;
}

function readError(text: string): ErrorBody {
  try {
    return (JSON.parse(text) as { error?: ErrorBody } | null)?.error ?? {};
  } catch {
    return {};
  }
}
