/**
 * The one table of everything that can go wrong with a request, as clients see it. The table in docs/api.md is held
 * against it by a test.
 *
 * - `status`: the HTTP status; `messagesStatus` where the messages format uses another one.
 * - `chatType`, `chatCode`: `error.type` and `error.code` of the chat format (OpenAI API reference, "Error codes").
 * - `messagesType`: `error.type` of the messages format (Anthropic API reference, "Errors").
 * - `movable`: the router itself may give the job to another worker, as long as the client has seen nothing of an answer.
 * - `clientMayRetry`: the same request may succeed later. When it is false the answer carries `x-should-retry: false`.
 */
export const errorTable = {
  missing_key: row(401, 'invalid_request_error', null, 'authentication_error', false, false),
  invalid_api_key: row(401, 'invalid_request_error', 'invalid_api_key', 'authentication_error', false, false),
  permission_denied: row(403, 'invalid_request_error', 'permission_denied', 'permission_error', false, false),
  invalid_json: row(400, 'invalid_request_error', null, 'invalid_request_error', false, false),
  invalid_request: row(400, 'invalid_request_error', 'invalid_type', 'invalid_request_error', false, false),
  missing_parameter: row(
    400,
    'invalid_request_error',
    'missing_required_parameter',
    'invalid_request_error',
    false,
    false,
  ),
  unsupported_parameter: row(
    400,
    'invalid_request_error',
    'unsupported_parameter',
    'invalid_request_error',
    false,
    false,
  ),
  context_length_exceeded: row(
    400,
    'invalid_request_error',
    'context_length_exceeded',
    'invalid_request_error',
    false,
    false,
  ),
  model_not_found: row(404, 'invalid_request_error', 'model_not_found', 'not_found_error', false, false),
  not_found: row(404, 'invalid_request_error', 'not_found', 'not_found_error', false, false),
  method_not_allowed: row(405, 'invalid_request_error', 'method_not_allowed', 'invalid_request_error', false, false),
  request_timeout: row(408, 'invalid_request_error', 'request_timeout', 'invalid_request_error', false, true),
  body_too_large: row(413, 'invalid_request_error', 'request_too_large', 'request_too_large', false, false),
  unsupported_encoding: row(
    415,
    'invalid_request_error',
    'unsupported_encoding',
    'invalid_request_error',
    false,
    false,
  ),
  headers_too_large: row(431, 'invalid_request_error', 'headers_too_large', 'invalid_request_error', false, false),
  request_exceeds_limit: row(
    400,
    'invalid_request_error',
    'request_exceeds_limit',
    'invalid_request_error',
    false,
    false,
  ),
  rate_limit_exceeded: row(429, 'requests', 'rate_limit_exceeded', 'rate_limit_error', true, true),
  token_limit_exceeded: row(429, 'tokens', 'rate_limit_exceeded', 'rate_limit_error', false, true),
  insufficient_quota: row(429, 'insufficient_quota', 'insufficient_quota', 'rate_limit_error', false, false),
  internal: row(500, 'server_error', 'internal_error', 'api_error', false, true),
  upstream_failed: row(502, 'server_error', 'upstream_failed', 'api_error', true, true),
  worker_lost: row(502, 'server_error', 'worker_lost', 'api_error', true, true),
  no_worker_available: row(503, 'server_error', 'no_worker_available', 'overloaded_error', false, true, 529),
  overloaded: row(503, 'server_error', 'overloaded', 'overloaded_error', true, true, 529),
  queue_timeout: row(503, 'server_error', 'queue_timeout', 'overloaded_error', false, true, 529),
  store_unavailable: row(503, 'server_error', 'store_unavailable', 'api_error', false, true),
  broker_unavailable: row(503, 'server_error', 'broker_unavailable', 'api_error', false, true),
  shutting_down: row(503, 'server_error', 'shutting_down', 'overloaded_error', true, true, 529),
  upstream_timeout: row(504, 'server_error', 'upstream_timeout', 'timeout_error', true, true),
  first_token_timeout: row(504, 'server_error', 'first_token_timeout', 'timeout_error', false, true),
  idle_timeout: row(504, 'server_error', 'idle_timeout', 'timeout_error', false, true),
  total_timeout: row(504, 'server_error', 'total_timeout', 'timeout_error', false, false),
} as const;

/** The name of one row of the error table. */
export type ErrorCode = keyof typeof errorTable;

/** Further facts of an error that a client may need. */
export interface ErrorDetails {
  /** Path of the offending field, as `messages[0].content`. */
  param?: string | undefined;
  /**
   * Seconds after which a retry makes sense; sent as `retry-after`, kept within 1 to 30 where clients are told to retry by
   * themselves.
   */
  retryAfter?: number | undefined;
  /** What happened underneath. For logs only, never sent. */
  cause?: unknown;
  /** Sent as `error.details` in the messages format. */
  details?: { error_code: string; [field: string]: string | string[] } | undefined;
}

/** An error that a client is told about: a row of the table, a sentence, and details. Its message holds no secrets. */
export class RouterError extends Error {
  override name = 'RouterError';
  readonly code: ErrorCode;
  readonly param: string | undefined;
  readonly retryAfter: number | undefined;
  readonly details: ErrorDetails['details'];

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.param = details.param;
    this.retryAfter = details.retryAfter;
    this.details = details.details;
  }

  /** Whether the router may give the job to another worker while the client has seen nothing of an answer. */
  get movable(): boolean {
    return errorTable[this.code].movable;
  }
}

/** Whether a string, from a worker for instance, names a row of the error table. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorTable, code);
}

interface ErrorRow {
  status: number;
  chatType: string;
  chatCode: string | null;
  messagesType: string;
  movable: boolean;
  clientMayRetry: boolean;
  messagesStatus: number;
}

function row(
  status: number,
  chatType: string,
  chatCode: string | null,
  messagesType: string,
  movable: boolean,
  clientMayRetry: boolean,
  messagesStatus = status,
): ErrorRow {
  return { status, chatType, chatCode, messagesType, movable, clientMayRetry, messagesStatus };
}
