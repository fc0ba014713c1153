import { errorTable, type ErrorCode, type ErrorDetails, type RouterError } from '#shared/core/errors.ts';
import { toRetryHeaders, type ErrorAnswer } from '../retry-headers.ts';
import { readOverflow, writeOverflowText } from '../context-overflow.ts';

/** An error in the formats of OpenAI's API. Clients rely on all four keys (OpenAI API reference, "Error codes"). */
interface OpenaiErrorBody {
  error: { message: string; type: string; param: string | null; code: string | null };
}

/** `error.type` and `error.code` of each error (OpenAI API reference, "Error codes"). */
export const openaiErrors: Record<ErrorCode, { type: string; code: string | null }> = {
  missing_key: { type: 'invalid_request_error', code: null },
  invalid_api_key: { type: 'invalid_request_error', code: 'invalid_api_key' },
  permission_denied: { type: 'invalid_request_error', code: 'permission_denied' },
  connection_required: { type: 'invalid_request_error', code: 'connection_required' },
  invalid_json: { type: 'invalid_request_error', code: null },
  invalid_request: { type: 'invalid_request_error', code: 'invalid_type' },
  invalid_value: { type: 'invalid_request_error', code: 'invalid_value' },
  missing_parameter: { type: 'invalid_request_error', code: 'missing_required_parameter' },
  unsupported_parameter: { type: 'invalid_request_error', code: 'unsupported_parameter' },
  context_length_exceeded: { type: 'invalid_request_error', code: 'context_length_exceeded' },
  model_not_found: { type: 'invalid_request_error', code: 'model_not_found' },
  previous_response_not_found: { type: 'invalid_request_error', code: 'previous_response_not_found' },
  response_begun_anew: { type: 'invalid_request_error', code: 'response_begun_anew' },
  not_found: { type: 'invalid_request_error', code: 'not_found' },
  method_not_allowed: { type: 'invalid_request_error', code: 'method_not_allowed' },
  upgrade_refused: { type: 'invalid_request_error', code: 'upgrade_refused' },
  request_timeout: { type: 'invalid_request_error', code: 'request_timeout' },
  idempotency_key_reused: { type: 'invalid_request_error', code: 'idempotency_key_reused' },
  answer_not_kept: { type: 'invalid_request_error', code: 'answer_not_kept' },
  body_too_large: { type: 'invalid_request_error', code: 'request_too_large' },
  storage_quota_exceeded: { type: 'invalid_request_error', code: 'storage_quota_exceeded' },
  unsupported_encoding: { type: 'invalid_request_error', code: 'unsupported_encoding' },
  range_not_satisfiable: { type: 'invalid_request_error', code: 'range_not_satisfiable' },
  headers_too_large: { type: 'invalid_request_error', code: 'headers_too_large' },
  request_exceeds_limit: { type: 'invalid_request_error', code: 'request_exceeds_limit' },
  rate_limit_exceeded: { type: 'requests', code: 'rate_limit_exceeded' },
  token_limit_exceeded: { type: 'tokens', code: 'rate_limit_exceeded' },
  insufficient_quota: { type: 'insufficient_quota', code: 'insufficient_quota' },
  internal: { type: 'server_error', code: 'internal_error' },
  upstream_failed: { type: 'server_error', code: 'upstream_failed' },
  workers_died: { type: 'invalid_request_error', code: 'workers_died' },
  worker_lost: { type: 'server_error', code: 'worker_lost' },
  no_worker_available: { type: 'server_error', code: 'no_worker_available' },
  overloaded: { type: 'server_error', code: 'overloaded' },
  queue_timeout: { type: 'server_error', code: 'queue_timeout' },
  store_unavailable: { type: 'server_error', code: 'store_unavailable' },
  storage_full: { type: 'server_error', code: 'storage_full' },
  broker_unavailable: { type: 'server_error', code: 'broker_unavailable' },
  shutting_down: { type: 'server_error', code: 'shutting_down' },
  upstream_timeout: { type: 'server_error', code: 'upstream_timeout' },
  first_token_timeout: { type: 'server_error', code: 'first_token_timeout' },
  idle_timeout: { type: 'server_error', code: 'idle_timeout' },
  total_timeout: { type: 'server_error', code: 'total_timeout' },
};

export function createOpenaiErrorAnswer(error: RouterError): ErrorAnswer<OpenaiErrorBody> {
  const { status } = errorTable[error.code];
  return { status, headers: toRetryHeaders(error, status), body: createOpenaiErrorBody(error) };
}

/** Returns the body of an error, with all four keys. */
export function createOpenaiErrorBody({
  code: error,
  message,
  param,
  upstreamCode,
}: Pick<RouterError, 'code' | 'message' | 'param'> & Pick<ErrorDetails, 'upstreamCode'>): OpenaiErrorBody {
  const { type, code } = openaiErrors[error];
  return { error: { message, type, param: param ?? null, code: upstreamCode ?? code } };
}

export function createChatErrorAnswer(error: RouterError): ErrorAnswer<OpenaiErrorBody> {
  return { ...createOpenaiErrorAnswer(error), body: createChatErrorBody(error) };
}

/** Returns the body of an error of a chat completion. For an exceeded context, the message has OpenAI's wording, which clients parse. */
export function createChatErrorBody(error: RouterError): OpenaiErrorBody {
  const { code, details } = error;
  const overflow = readOverflow(details);
  if (!overflow) return createOpenaiErrorBody(error);
  return createOpenaiErrorBody({ code, message: writeOverflowText(overflow, 'messages'), param: 'messages' });
}
