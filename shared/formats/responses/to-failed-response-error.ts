import type { ErrorCode, RouterError } from '#shared/core/errors.ts';
import { outlastsRetries } from '../retry-headers.ts';

/**
 * The codes of failed responses. Codex repeats a request after `server_error` and `rate_limit_exceeded`, and not after the other codes
 * (docs/decisions/0014-opened-answers.md).
 */
type FailedCode =
  | 'server_error'
  | 'server_is_overloaded'
  | 'rate_limit_exceeded'
  | 'insufficient_quota'
  | 'context_length_exceeded'
  | 'invalid_prompt';

const failedCodes: Record<ErrorCode, FailedCode> = {
  missing_key: 'invalid_prompt',
  invalid_api_key: 'invalid_prompt',
  permission_denied: 'invalid_prompt',
  connection_required: 'invalid_prompt',
  invalid_json: 'invalid_prompt',
  invalid_request: 'invalid_prompt',
  invalid_value: 'invalid_prompt',
  missing_parameter: 'invalid_prompt',
  unsupported_parameter: 'invalid_prompt',
  context_length_exceeded: 'context_length_exceeded',
  model_not_found: 'invalid_prompt',
  previous_response_not_found: 'invalid_prompt',
  response_begun_anew: 'invalid_prompt',
  not_found: 'invalid_prompt',
  method_not_allowed: 'invalid_prompt',
  upgrade_refused: 'invalid_prompt',
  request_timeout: 'server_error',
  idempotency_key_reused: 'invalid_prompt',
  answer_not_kept: 'invalid_prompt',
  body_too_large: 'invalid_prompt',
  storage_quota_exceeded: 'invalid_prompt',
  unsupported_encoding: 'invalid_prompt',
  range_not_satisfiable: 'invalid_prompt',
  headers_too_large: 'invalid_prompt',
  request_exceeds_limit: 'invalid_prompt',
  rate_limit_exceeded: 'rate_limit_exceeded',
  token_limit_exceeded: 'rate_limit_exceeded',
  insufficient_quota: 'insufficient_quota',
  internal: 'server_error',
  upstream_failed: 'server_error',
  // A repetition of the request would kill more workers.
  workers_died: 'invalid_prompt',
  worker_lost: 'server_error',
  // The router reports these errors only after it has waited for the permitted time.
  no_worker_available: 'server_is_overloaded',
  overloaded: 'server_is_overloaded',
  queue_timeout: 'server_is_overloaded',
  store_unavailable: 'server_is_overloaded',
  storage_full: 'server_error',
  broker_unavailable: 'server_is_overloaded',
  shutting_down: 'server_error',
  upstream_timeout: 'server_error',
  first_token_timeout: 'server_error',
  idle_timeout: 'server_error',
  total_timeout: 'server_is_overloaded',
};

/** Converts an error to the error field of a failed response. */
export function toFailedResponseError(failure: RouterError): { code: FailedCode; message: string } {
  const { code: error, message, retryAfter } = failure;
  const code = failedCodes[error];
  if (code !== 'rate_limit_exceeded' || retryAfter === undefined || outlastsRetries(failure)) return { code, message };
  // Codex reads the time to wait from this wording, and waits that long.
  return { code, message: `${message} Please try again in ${Math.max(1, Math.ceil(retryAfter))}s.` };
}
