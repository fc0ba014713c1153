import { CallError } from '../client/call-error.ts';

export interface Refusal {
  status: number;
  text: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  url: string;
  /** Path below the Admin API. */
  path: string;
  /** Message for a token that the router rejects. */
  unknownTokenMessage: string;
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

/** Returns the message for the user, in one or two sentences. */
function toSentence({ status, text, headers, url, path, unknownTokenMessage }: Refusal): string {
  const { code, message, field } = readError(text);
  if (typeof message !== 'string') {
    if (status === 404) return `The server at ${url} has no Admin API: is RTR_URL right, and the router up to date?`;
    return `The router at ${url} answered with status ${status}.`;
  }
  if (status === 401) return unknownTokenMessage;
  if (code === 'permission_denied') return `${message} The admin token has the rights of the person who made it.`;
  if (status === 404) return `${message} (${decodeURIComponent(path)})`;
  const retryAfter = headers['retry-after'];
  const retryHint = typeof retryAfter === 'string' ? ` Try again in ${retryAfter} s.` : '';
  // Messages about a registry already name the field.
  const fieldPrefix = typeof field === 'string' && !message.includes(field) ? `${field}: ` : '';
  return `${fieldPrefix}${message}${retryHint}`;
}

function readError(text: string): ErrorBody {
  try {
    return (JSON.parse(text) as { error?: ErrorBody } | null)?.error ?? {};
  } catch {
    return {};
  }
}
