import { isJsonObject, type JsonObject, type Json } from '#shared/core/json.ts';
import { RouterError } from '#shared/core/errors.ts';
import { createOverflowError, createOutputLimitError, type Overflow } from '#shared/formats/context-overflow.ts';
import { createRejectionDetails, type RejectedCapability } from '#shared/formats/rejected-capability.ts';
import type { RawHeaders } from '#shared/core/pick-headers.ts';
import { readSpentAllowance, readWait } from './limit-texts.ts';
import { readOverflowText } from './overflow-texts.ts';
import { readRequestFault } from './request-fault-texts.ts';

/** The fields of an upstream's error, independent of the upstream's format. */
export interface UpstreamErrorFields {
  status: number;
  /** The upstream's error message; empty if it has none. */
  message: string;
  /** The field that the error names, as a path of the chat format. */
  param?: string | undefined;
  /** The error's code as the upstream sent it. A client gets the code only if it looks like an OpenAI code, such as `invalid_value`. */
  code?: Json | undefined;
  /** Seconds to wait; undefined if the upstream gives no time. */
  retryAfter: number | undefined;
  /** The overflow of the context window, if the type or the fields of the error report it. Otherwise it is read from the message. */
  overflow?: Overflow | undefined;
}

/** Maximum characters of an upstream's message that a client receives. */
const maxMessageLength = 1000;

/**
 * Returns the router's error for an upstream's error. If the upstream refuses the router's credentials (401, 403) or model name (404), the
 * router's configuration is wrong, not the client's request. The error is then `upstream_failed`, because some clients would mistake the
 * original status for a failed sign-in. Messages of the upstream's internal errors are only logged.
 */
export function upstreamError(fields: UpstreamErrorFields): RouterError {
  const { status, message, param, code, retryAfter, overflow } = fields;
  const text = message.slice(0, maxMessageLength);
  switch (status) {
    case 400:
    case 413:
    case 422: {
      const spent = readSpentAllowance(text, retryAfter);
      if (spent) return createRateLimitError(spent);
      if (outOfMoney.test(text)) return createFailureError(outOfMoneyStatus, text);
      const overflowFound = overflow ?? readOverflowText(text);
      if (overflowFound !== undefined) return createOverflowError(overflowFound);
      // llama.cpp in router mode: the requested model was unloaded shortly before.
      if (text.startsWith('model is not loaded')) return createFailureError(status, text);
      const tooLarge = readOutputLimit(text);
      if (tooLarge) return tooLarge;
      const missing = param === 'reasoning_effort' ? 'effort_unsupported' : readRequestFault(text)?.missing;
      return createRefusalError(
        text || `The upstream refused the request (status ${status}).`,
        { param, code },
        missing,
      );
    }
    case 429: {
      const spent = readSpentAllowance(text, retryAfter);
      if (spent) return createRateLimitError(spent);
      return createRateLimitError({
        message: 'The upstream limits the rate of requests.',
        retryAfter: retryAfter ?? readWait(text),
      });
    }
    case 503:
    case 529:
      return new RouterError('overloaded', 'Overloaded', { retryAfter, cause: text });
    case 408:
    case 504:
      return new RouterError('upstream_timeout', 'The upstream took too long.', { byUpstream: true, cause: text });
    case 401:
    case 403:
      return new RouterError('upstream_failed', `The upstream refused the router's credentials (status ${status}).`, {
        // Status 403 may mean that the credentials lack access to one model.
        refusesCredentials: status === 401,
        byUpstream: true,
      });
    default: {
      const overflowFound = status >= 500 ? (overflow ?? readOverflowText(text)) : undefined;
      if (overflowFound !== undefined) return createOverflowError(overflowFound);
      const fault = readRequestFault(text);
      if (fault) return createRefusalError(text, { param, code }, fault.missing);
      return createFailureError(status, text);
    }
  }
}

function createRateLimitError({
  message,
  retryAfter,
}: {
  message: string;
  retryAfter: number | undefined;
}): RouterError {
  return new RouterError('rate_limit_exceeded', message, { retryAfter });
}

function createFailureError(status: number, text: string): RouterError {
  const message = `The upstream failed with status ${status}.`;
  return new RouterError('upstream_failed', message, { byUpstream: true, cause: text });
}

/** Matches Anthropic's message about an account without credit, which comes with status 400. */
const outOfMoney = /^(?:Your )?credit balance is too low/i;
/** The status of other providers for an account without credit. */
const outOfMoneyStatus = 402;

function createRefusalError(
  text: string,
  { param, code }: Pick<UpstreamErrorFields, 'param' | 'code'>,
  missing: RejectedCapability | undefined,
): RouterError {
  const details = missing && createRejectionDetails(missing);
  return new RouterError('invalid_request', text, { param, details, upstreamCode: toRefusalCode(code) });
}

/** Kinds of errors that some engines send in place of codes. They say no more than the status. */
const unspecificCodes: ReadonlySet<string> = new Set(['invalid_request_error', 'bad_request']);

/**
 * Returns the engine's code. Returns `invalid_value` if the engine sends no code, only a number, or a code that says no more than the
 * status.
 */
function toRefusalCode(code: Json | undefined): string {
  const isCode = typeof code === 'string' && /^[a-z][a-z0-9_]{2,59}$/.test(code) && !unspecificCodes.has(code);
  return isCode ? code : 'invalid_value';
}

/** Messages of DeepSeek, Alibaba and Groq about a request for more output tokens (`max_tokens`) than the model allows. */
const outputLimitTexts = [
  /valid range of max_tokens is \[\d+, (\d+)\]/,
  /Range of max_(?:completion_)?tokens should be \[\d+, (\d+)\]/,
  /`max_(?:completion_)?tokens` must be less than or equal to `(\d+)`/,
] as const;

/**
 * Returns the error for a message about a request for more output tokens (`max_tokens`) than the model allows; undefined for any other
 * message. Replaces OpenAI's message by a wording from which Claude Code reads the model's maximum.
 */
function readOutputLimit(message: string): RouterError | undefined {
  const [, requested, max] =
    /is too large: (\d+)\. This model supports at most (\d+) completion tokens/.exec(message) ?? [];
  if (requested !== undefined && max !== undefined) {
    const text = `max_tokens: ${requested} > ${max}, which is the maximum allowed number of output tokens for this model`;
    return createOutputLimitError(text, Number(max));
  }
  const maximum = outputLimitTexts.map((text) => text.exec(message)?.[1]).find((digits) => digits !== undefined);
  return maximum === undefined ? undefined : createOutputLimitError(message, Number(maximum));
}

/**
 * Returns the seconds to wait from `retry-after-ms` (OpenAI, Azure) or `retry-after` (RFC 9110, 10.2.3), which is a number or a date. A
 * date is compared with the `date` header of the answer, because the clocks of both machines may differ.
 */
export function readRetryAfter(headers: RawHeaders): number | undefined {
  const ms = readNumber(headers['retry-after-ms']);
  if (ms !== undefined) return ms / 1000;
  const seconds = readNumber(headers['retry-after']);
  if (seconds !== undefined) return seconds;
  const until = readDate(headers['retry-after']);
  return until === undefined ? undefined : Math.max(0, (until - (readDate(headers['date']) ?? Date.now())) / 1000);
}

function readNumber(header: string | string[] | undefined): number | undefined {
  const text = findFirst(header);
  return text !== undefined && /^\d{1,9}(\.\d+)?$/.test(text) ? Number(text) : undefined;
}

/** Parses an HTTP date, which is always in GMT, to milliseconds since 1970. */
function readDate(header: string | string[] | undefined): number | undefined {
  const text = findFirst(header);
  const time = text !== undefined && /^[A-Z][a-z]{2,8},? .+(?:GMT|\d{4})$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

function findFirst(header: string | string[] | undefined): string | undefined {
  return (Array.isArray(header) ? header[0] : header)?.trim();
}

/**
 * Returns the seconds to wait that the fields of an upstream's error report; undefined if they report none. Gemini sends `{retryDelay:
 * "34.07s"}` among the details (Google's `RetryInfo`). For an account's limit, OpenAI sends `resets_in_seconds` or `resets_at` (seconds
 * since 1970).
 */
export function readRetryDelay({
  details,
  resets_in_seconds: resetsInSeconds,
  resets_at: resetsAt,
}: JsonObject): number | undefined {
  if (typeof resetsInSeconds === 'number' && resetsInSeconds >= 0) return resetsInSeconds;
  if (typeof resetsAt === 'number') return Math.max(0, resetsAt - Date.now() / 1000);
  for (const detail of Array.isArray(details) ? details : []) {
    const delay = isJsonObject(detail) ? detail['retryDelay'] : undefined;
    if (typeof delay === 'string' && /^\d{1,9}(\.\d+)?s$/.test(delay)) return Number.parseFloat(delay);
  }
  return undefined;
}
