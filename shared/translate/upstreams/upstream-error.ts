import { RouterError } from '#shared/core/errors.ts';
import { contextOverflow, type Overflow } from '#shared/formats/context-overflow.ts';
import { readOverflowText } from './overflow-texts.ts';

/** What an upstream said when it refused or failed, read from its format's error shape. */
export interface UpstreamFailure {
  status: number;
  /** Its sentence, empty when it gave none. */
  message: string;
  /** The field that it named, in the chat format's way. */
  param?: string | undefined;
  /** Seconds, from its `retry-after`. */
  retryAfter: number | undefined;
  /** Set where the error's type or fields, rather than its sentence, tell that the request does not fit. */
  overflow?: Overflow | undefined;
}

/** Characters of an upstream's sentence that a client is shown at most. */
const longestSentence = 1000;

/**
 * The router's error for an upstream's failure. A refusal of the router's own credentials (401, 403) or model name (404)
 * is a fault of the router's set-up, not of the client's request, so it counts as a failed upstream: some clients would
 * take it for a failed log-in. What went wrong inside the upstream is kept for the logs and not shown.
 */
export function upstreamError(failure: UpstreamFailure): RouterError {
  const { status, message, param, retryAfter, overflow } = failure;
  const sentence = message.slice(0, longestSentence);
  switch (status) {
    case 400:
    case 413:
    case 422: {
      const counts = overflow ?? readOverflowText(sentence);
      if (counts !== undefined) return contextOverflow(counts);
      const limit = outputLimit(sentence);
      if (limit !== undefined) return new RouterError('invalid_request', limit, { param: 'max_tokens' });
      return new RouterError('invalid_request', sentence || `The upstream refused the request (status ${status}).`, {
        param,
      });
    }
    case 429:
      return new RouterError('rate_limit_exceeded', 'The upstream limits the rate of requests.', { retryAfter });
    case 503:
    case 529:
      return new RouterError('overloaded', 'Overloaded', { retryAfter, cause: sentence });
    case 408:
    case 504:
      return new RouterError('upstream_timeout', 'The upstream took too long.', { cause: sentence });
    case 401:
    case 403:
      return new RouterError('upstream_failed', `The upstream refused the router's credentials (status ${status}).`);
    default: {
      const counts = status >= 500 ? (overflow ?? readOverflowText(sentence)) : undefined;
      if (counts !== undefined) return contextOverflow(counts);
      return new RouterError('upstream_failed', `The upstream failed with status ${status}.`, { cause: sentence });
    }
  }
}

/** OpenAI's refusal of a limit that is above the model's own, in the text that Claude Code reads the model's limit from. */
function outputLimit(sentence: string): string | undefined {
  const [, asked, most] =
    /is too large: (\d+)\. This model supports at most (\d+) completion tokens/.exec(sentence) ?? [];
  if (asked === undefined || most === undefined) return undefined;
  return `max_tokens: ${asked} > ${most}, which is the maximum allowed number of output tokens for this model`;
}

/**
 * Seconds from a `retry-after` header (RFC 9110, 10.2.3). Its form with a date would need a clock and is not used by the
 * upstreams at hand, so it counts as absent.
 */
export function readRetryAfter(header: string | string[] | undefined): number | undefined {
  const text = Array.isArray(header) ? header[0] : header;
  return text !== undefined && /^\d{1,9}(\.\d+)?$/.test(text.trim()) ? Number(text) : undefined;
}
