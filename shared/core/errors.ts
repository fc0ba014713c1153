import type { JsonObject } from './json.ts';

/**
 * The errors of requests. Each client format has a table of its own with the wording of each row (`shared/formats/<format>/error.ts`).
 *
 * - `status`: the HTTP status, unless the client's format has another status for the error.
 * - `movable`: the router may give the job to another worker, as long as no part of an answer has reached the client.
 * - `clientMayRetry`: the same request may succeed later. If false, the answer has the header `x-should-retry: false`.
 */
export const errorTable = {
  missing_key: { status: 401, movable: false, clientMayRetry: false },
  invalid_api_key: { status: 401, movable: false, clientMayRetry: false },
  permission_denied: { status: 403, movable: false, clientMayRetry: false },
  /** The person who calls a tool has no account link to its MCP server, or the link has expired. */
  connection_required: { status: 403, movable: false, clientMayRetry: false },
  invalid_json: { status: 400, movable: false, clientMayRetry: false },
  invalid_request: { status: 400, movable: false, clientMayRetry: false },
  /** A value of the right type that is out of range. */
  invalid_value: { status: 400, movable: false, clientMayRetry: false },
  missing_parameter: { status: 400, movable: false, clientMayRetry: false },
  unsupported_parameter: { status: 400, movable: false, clientMayRetry: false },
  context_length_exceeded: { status: 400, movable: false, clientMayRetry: false },
  model_not_found: { status: 404, movable: false, clientMayRetry: false },
  previous_response_not_found: { status: 400, movable: false, clientMayRetry: false },
  /** The events that a client has received are no longer part of the background response. */
  response_begun_anew: { status: 400, movable: false, clientMayRetry: false },
  not_found: { status: 404, movable: false, clientMayRetry: false },
  method_not_allowed: { status: 405, movable: false, clientMayRetry: false },
  upgrade_refused: { status: 426, movable: false, clientMayRetry: false },
  request_timeout: { status: 408, movable: false, clientMayRetry: true },
  /** The idempotency key was used for another request. */
  idempotency_key_reused: { status: 422, movable: false, clientMayRetry: false },
  /** A request with the idempotency key was executed, but its answer, or the requested part, is not kept. */
  answer_not_kept: { status: 409, movable: false, clientMayRetry: false },
  body_too_large: { status: 413, movable: false, clientMayRetry: false },
  storage_quota_exceeded: { status: 403, movable: false, clientMayRetry: false },
  unsupported_encoding: { status: 415, movable: false, clientMayRetry: false },
  range_not_satisfiable: { status: 416, movable: false, clientMayRetry: false },
  headers_too_large: { status: 431, movable: false, clientMayRetry: false },
  request_exceeds_limit: { status: 400, movable: false, clientMayRetry: false },
  rate_limit_exceeded: { status: 429, movable: true, clientMayRetry: true },
  token_limit_exceeded: { status: 429, movable: false, clientMayRetry: true },
  insufficient_quota: { status: 429, movable: false, clientMayRetry: false },
  internal: { status: 500, movable: true, clientMayRetry: true },
  upstream_failed: { status: 502, movable: true, clientMayRetry: true },
  workers_died: { status: 422, movable: false, clientMayRetry: false },
  worker_lost: { status: 502, movable: true, clientMayRetry: true },
  no_worker_available: { status: 503, movable: false, clientMayRetry: true },
  overloaded: { status: 503, movable: true, clientMayRetry: true },
  queue_timeout: { status: 503, movable: false, clientMayRetry: true },
  store_unavailable: { status: 503, movable: false, clientMayRetry: true },
  storage_full: { status: 507, movable: false, clientMayRetry: false },
  broker_unavailable: { status: 503, movable: false, clientMayRetry: true },
  shutting_down: { status: 503, movable: true, clientMayRetry: true },
  upstream_timeout: { status: 504, movable: true, clientMayRetry: true },
  first_token_timeout: { status: 504, movable: true, clientMayRetry: true },
  idle_timeout: { status: 504, movable: false, clientMayRetry: true },
  total_timeout: { status: 504, movable: false, clientMayRetry: false },
} as const satisfies Record<string, { status: number; movable: boolean; clientMayRetry: boolean }>;

export type ErrorCode = keyof typeof errorTable;

/** An error as an upstream wrote it. Clients of the same format get it unchanged, because they act on its wording. */
export interface OriginalError {
  /** The name of the error's format. */
  format: string;
  status: number;
  body: JsonObject;
  /** Headers for clients, names in lower case. */
  headers: Record<string, string>;
}

/** Further facts of an error that a client may need. */
export interface ErrorDetails {
  /** Path of the invalid field, such as `messages[0].content`. */
  param?: string | undefined;
  /** Seconds after which a retry makes sense, sent as `retry-after`; between 1 and 30 for errors that SDKs retry. */
  retryAfter?: number | undefined;
  /** Whether the request has called tools that may have changed something. Clients must not repeat such a request automatically. */
  hadEffects?: boolean | undefined;
  /** Whether an upstream refuses the worker's credentials. No job of the worker can succeed until they are renewed. */
  refusesCredentials?: boolean | undefined;
  /** Whether an upstream reports the error, so that the process that asked the upstream is not at fault. */
  byUpstream?: boolean | undefined;
  /** The underlying error. For logs only, never sent. */
  cause?: unknown;
  /** Facts as data, for formats whose errors contain them (`error.details` of the messages format). */
  details?: { error_code: string; [field: string]: string | string[] } | undefined;
  /** The upstream's own error, if clients of its format may see it. */
  original?: OriginalError | undefined;
  /** The code of an upstream's refusal in OpenAI's formats; it replaces the code of the table's row. */
  upstreamCode?: string | undefined;
}

/** An error as clients see it: a row of the table, a sentence, and details. The message must contain no secrets. */
export class RouterError extends Error {
  override name = 'RouterError';
  readonly code: ErrorCode;
  readonly param: string | undefined;
  readonly retryAfter: number | undefined;
  readonly hadEffects: boolean;
  readonly refusesCredentials: boolean;
  readonly byUpstream: boolean;
  readonly details: ErrorDetails['details'];
  readonly original: OriginalError | undefined;
  readonly upstreamCode: string | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.param = details.param;
    this.retryAfter = details.retryAfter;
    this.hadEffects = details.hadEffects ?? false;
    this.refusesCredentials = details.refusesCredentials ?? false;
    this.byUpstream = details.byUpstream ?? false;
    this.details = details.details;
    this.original = details.original;
    this.upstreamCode = details.upstreamCode;
  }

  /** Whether the job may go to another worker, as long as no part of an answer has reached the client. */
  get movable(): boolean {
    return errorTable[this.code].movable;
  }

  /** Returns a copy with an original error, which clients of the original's format receive as the upstream wrote it. */
  withOriginal(original: OriginalError | undefined): RouterError {
    return new RouterError(this.code, this.message, { ...this.#allDetails(), original });
  }

  /** Returns a copy that marks the request as having had effects. */
  withEffects(): RouterError {
    return new RouterError(this.code, this.message, { ...this.#allDetails(), hadEffects: true });
  }

  #allDetails(): ErrorDetails {
    const { param, retryAfter, hadEffects, refusesCredentials, byUpstream, cause, details, original, upstreamCode } =
      this;
    return { param, retryAfter, hadEffects, refusesCredentials, byUpstream, cause, details, original, upstreamCode };
  }
}

/** The refusal of a process that lacks memory itself, so that no worker and no upstream is at fault. */
export class ShortOfMemoryError extends RouterError {
  override name = 'ShortOfMemoryError';

  /** @param retryAfter see `ErrorDetails` */
  constructor(message: string, retryAfter: number) {
    super('overloaded', message, { retryAfter });
  }
}

/** Whether the router or an upstream is at fault, rather than the request itself. */
export function isFault(code: ErrorCode): boolean {
  return errorTable[code].status >= 500;
}

/** Whether a string, for instance from a worker, is a code of the error table. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorTable, code);
}

/**
 * Returns the error that a client receives for a thrown value. The client does not see the cause of an unexpected error.
 * @param message what the client reads about an unexpected error
 */
export function toRouterError(error: unknown, message = 'The router failed.'): RouterError {
  return error instanceof RouterError ? error : new RouterError('internal', message, { cause: error });
}

/** Creates the error of a request that a process refuses or ends because the process stops. */
export function createShuttingDownError(): RouterError {
  return new RouterError('shutting_down', 'The router is being restarted.', { retryAfter: 1 });
}

/**
 * The reason why another worker cannot continue an answer exactly: `refused` if that worker does not continue answers of this kind;
 * `mismatch` if its output would not follow on the text that the client already has.
 */
export const continuationFailures = ['refused', 'mismatch'] as const;
export type ContinuationFailure = (typeof continuationFailures)[number];

/**
 * The error of a worker that cannot continue an answer. No other worker can do better, and neither the worker nor its upstream is at
 * fault.
 */
export class CannotContinue extends RouterError {
  override name = 'CannotContinue';
  readonly failure: ContinuationFailure;

  /** @param message for the log only; the client gets the error that ended the stream on its first worker */
  constructor(failure: ContinuationFailure, message: string, cause?: unknown) {
    super('invalid_request', message, { cause });
    this.failure = failure;
  }
}
