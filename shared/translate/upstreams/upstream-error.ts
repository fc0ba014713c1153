import { RouterError } from '#shared/core/errors.ts';
import type { Json } from '#shared/core/json.ts';
import { createOverflowError, createOutputLimitError, type Overflow } from '#shared/formats/context-overflow.ts';
import { rejectionDetails, type RejectedCapability } from '#shared/formats/rejected-capability.ts';
import type { RawHeaders } from '#shared/core/pick-headers.ts';
import { readSpentAllowance, readWait } from './limit-texts.ts';
import { readOverflowText } from './overflow-texts.ts';
import { readRequestFault } from './request-fault-text.ts';

/** An upstream's error, read from the error shape of its format. */
export interface UpstreamFailure {
  status: number;
  /** The upstream's error message; empty if it has none. */
  message: string;
  /** The field that the error names, as a path of the chat format. */
  param?: string | undefined;
  /** The error's code. Only a text in the style of OpenAI's codes is used. */
  code?: Json | undefined;
  /** Seconds to wait; undefined if the upstream names none. */
  retryAfter: number | undefined;
  /** Set if the error's type or fields, not only its message, report that the request does not fit. */
  overflow?: Overflow | undefined;
}

/** Maximum characters of an upstream's message that a client receives. */
const maxMessageLength = 1000;

/**
 * Returns the router's error for an upstream's failure. If the upstream refuses the router's credentials (401, 403) or model name (404),
 * the router's configuration is wrong, not the client's request, so the error is `upstream_failed`. Some clients would take the original
 * status for a failed sign-in. Messages of the upstream's internal errors are only logged.
 */
export function upstreamError(failure: UpstreamFailure): RouterError {
  const { status, message, param, code, retryAfter, overflow } = failure;
  const sentence = message.slice(0, maxMessageLength);
  switch (status) {
    case 400:
    case 413:
    case 422: {
      const spent = readSpentAllowance(sentence, retryAfter);
      if (spent) return limited(spent);
      if (outOfMoney.test(sentence)) return failed(outOfMoneyStatus, sentence);
      const counts = overflow ?? readOverflowText(sentence);
      if (counts !== undefined) return createOverflowError(counts);
      // llama.cpp in router mode: the worker has requested a model that was unloaded shortly before.
      if (sentence.startsWith('model is not loaded')) return failed(status, sentence);
      const tooLarge = readOutputLimit(sentence);
      if (tooLarge) return tooLarge;
      const missing = param === 'reasoning_effort' ? 'effort_unsupported' : readRequestFault(sentence)?.missing;
      return refused(sentence || `The upstream refused the request (status ${status}).`, { param, code }, missing);
    }
    case 429: {
      const spent = readSpentAllowance(sentence, retryAfter);
      if (spent) return limited(spent);
      return limited({
        message: 'The upstream limits the rate of requests.',
        retryAfter: retryAfter ?? readWait(sentence),
      });
    }
    case 503:
    case 529:
      return new RouterError('overloaded', 'Overloaded', { retryAfter, cause: sentence });
    case 408:
    case 504:
      return new RouterError('upstream_timeout', 'The upstream took too long.', { byUpstream: true, cause: sentence });
    case 401:
    case 403:
      return new RouterError('upstream_failed', `The upstream refused the router's credentials (status ${status}).`, {
        // Status 403 may mean that the credentials lack access to one model.
        refusesCredentials: status === 401,
        byUpstream: true,
      });
    default: {
      const counts = status >= 500 ? (overflow ?? readOverflowText(sentence)) : undefined;
      if (counts !== undefined) return createOverflowError(counts);
      const fault = readRequestFault(sentence);
      if (fault) return refused(sentence, { param, code }, fault.missing);
      return failed(status, sentence);
    }
  }
}

function limited({ message, retryAfter }: { message: string; retryAfter: number | undefined }): RouterError {
  return new RouterError('rate_limit_exceeded', message, { retryAfter });
}

function failed(status: number, sentence: string): RouterError {
  const message = `The upstream failed with status ${status}.`;
  return new RouterError('upstream_failed', message, { byUpstream: true, cause: sentence });
}

/** Matches Anthropic's message about an account without credit, which comes with status 400. */
const outOfMoney = /^(?:Your )?credit balance is too low/i;
/** The status with which other providers report an account without credit. */
const outOfMoneyStatus = 402;

function refused(
  sentence: string,
  { param, code }: Pick<UpstreamFailure, 'param' | 'code'>,
  missing: RejectedCapability | undefined,
): RouterError {
  const details = missing && rejectionDetails(missing);
  return new RouterError('invalid_request', sentence, { param, details, upstreamCode: refusalCode(code) });
}

/** Kinds of errors that some engines send in place of codes. Such a kind says no more than the status. */
const unspecificCodes: ReadonlySet<string> = new Set(['invalid_request_error', 'bad_request']);

/** Returns the code of a refusal: `invalid_value` if the engine sends no code, or only its status as a number. */
function refusalCode(code: Json | undefined): string {
  const isCode = typeof code === 'string' && /^[a-z][a-z0-9_]{2,59}$/.test(code) && !unspecificCodes.has(code);
  return isCode ? code : 'invalid_value';
}

/** Messages of DeepSeek, Alibaba and Groq about a limit of output tokens above the model's maximum. */
const outputLimitTexts = [
  /valid range of max_tokens is \[\d+, (\d+)\]/,
  /Range of max_(?:completion_)?tokens should be \[\d+, (\d+)\]/,
  /`max_(?:completion_)?tokens` must be less than or equal to `(\d+)`/,
] as const;

/**
 * Returns the error for a limit of output tokens above the model's maximum. For OpenAI's message, the error has the wording from which
 * Claude Code reads the maximum.
 */
function readOutputLimit(sentence: string): RouterError | undefined {
  const [, requested, max] =
    /is too large: (\d+)\. This model supports at most (\d+) completion tokens/.exec(sentence) ?? [];
  if (requested !== undefined && max !== undefined) {
    const text = `max_tokens: ${requested} > ${max}, which is the maximum allowed number of output tokens for this model`;
    return createOutputLimitError(text, Number(max));
  }
  const maximum = outputLimitTexts.map((text) => text.exec(sentence)?.[1]).find((digits) => digits !== undefined);
  return maximum === undefined ? undefined : createOutputLimitError(sentence, Number(maximum));
}

/**
 * Returns the seconds to wait from `retry-after-ms` (OpenAI, Azure) or `retry-after` (RFC 9110, 10.2.3), which is a number or a date. A
 * date is compared with the date of the answer, so that the clocks of both machines need not agree.
 */
export function readRetryAfter(headers: RawHeaders): number | undefined {
  const ms = numberIn(headers['retry-after-ms']);
  if (ms !== undefined) return ms / 1000;
  const seconds = numberIn(headers['retry-after']);
  if (seconds !== undefined) return seconds;
  const until = dateIn(headers['retry-after']);
  return until === undefined ? undefined : Math.max(0, (until - (dateIn(headers['date']) ?? Date.now())) / 1000);
}

function numberIn(header: string | string[] | undefined): number | undefined {
  const text = firstOf(header);
  return text !== undefined && /^\d{1,9}(\.\d+)?$/.test(text) ? Number(text) : undefined;
}

/** Parses an HTTP date, which is always in GMT, to milliseconds since 1970. */
function dateIn(header: string | string[] | undefined): number | undefined {
  const text = firstOf(header);
  const at = text !== undefined && /^[A-Z][a-z]{2,8},? .+(?:GMT|\d{4})$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

function firstOf(header: string | string[] | undefined): string | undefined {
  return (Array.isArray(header) ? header[0] : header)?.trim();
}
