import { errorTable, type ErrorCode, type RouterError } from '#shared/core/errors.ts';
import { isJsonObject } from '#shared/core/json.ts';
import { pickHeaders } from '#shared/core/pick-headers.ts';
import { messagesErrorHeaders } from './headers.ts';
import { writeNamedEvent } from '../sse/encode.ts';
import { readRejectedCapability } from '../rejected-capability.ts';
import { toRetryHeaders, type ErrorAnswer } from '../retry-headers.ts';

export const messagesName = 'messages';

/** An error in the `messages` format (Anthropic API reference, "Errors"). */
export interface MessagesErrorBody {
  type: 'error';
  error: { type: string; message: string; details?: NonNullable<RouterError['details']> };
  request_id: string;
}

/** `error.type` of each error (Anthropic API reference, "Errors"). `status` is set only if it differs from the error table. */
export const messagesErrors: Record<ErrorCode, { type: string; status?: number }> = {
  missing_key: { type: 'authentication_error' },
  invalid_api_key: { type: 'authentication_error' },
  permission_denied: { type: 'permission_error' },
  connection_required: { type: 'permission_error' },
  invalid_json: { type: 'invalid_request_error' },
  invalid_request: { type: 'invalid_request_error' },
  invalid_value: { type: 'invalid_request_error' },
  missing_parameter: { type: 'invalid_request_error' },
  unsupported_parameter: { type: 'invalid_request_error' },
  context_length_exceeded: { type: 'invalid_request_error' },
  model_not_found: { type: 'not_found_error' },
  previous_response_not_found: { type: 'invalid_request_error' },
  response_begun_anew: { type: 'invalid_request_error' },
  not_found: { type: 'not_found_error' },
  method_not_allowed: { type: 'invalid_request_error' },
  upgrade_refused: { type: 'invalid_request_error' },
  request_timeout: { type: 'invalid_request_error' },
  idempotency_key_reused: { type: 'invalid_request_error' },
  answer_not_kept: { type: 'invalid_request_error' },
  body_too_large: { type: 'request_too_large' },
  storage_quota_exceeded: { type: 'permission_error' },
  unsupported_encoding: { type: 'invalid_request_error' },
  range_not_satisfiable: { type: 'invalid_request_error' },
  headers_too_large: { type: 'invalid_request_error' },
  request_exceeds_limit: { type: 'invalid_request_error' },
  rate_limit_exceeded: { type: 'rate_limit_error' },
  token_limit_exceeded: { type: 'rate_limit_error' },
  insufficient_quota: { type: 'rate_limit_error' },
  internal: { type: 'api_error' },
  upstream_failed: { type: 'api_error' },
  workers_died: { type: 'invalid_request_error' },
  worker_lost: { type: 'api_error' },
  no_worker_available: { type: 'overloaded_error', status: 529 },
  overloaded: { type: 'overloaded_error', status: 529 },
  queue_timeout: { type: 'overloaded_error', status: 529 },
  store_unavailable: { type: 'api_error' },
  storage_full: { type: 'api_error' },
  broker_unavailable: { type: 'api_error' },
  shutting_down: { type: 'overloaded_error', status: 529 },
  upstream_timeout: { type: 'timeout_error' },
  first_token_timeout: { type: 'timeout_error' },
  idle_timeout: { type: 'timeout_error' },
  total_timeout: { type: 'timeout_error' },
};

export function createMessagesErrorAnswer(error: RouterError, requestId: string): ErrorAnswer<MessagesErrorBody> {
  const body = createMessagesErrorBody(error, requestId);
  if (isUpstreamError(error))
    return { status: error.original.status, headers: pickHeaders(error.original.headers, messagesErrorHeaders), body };
  const status = messagesErrors[error.code].status ?? errorTable[error.code].status;
  return { status, headers: toRetryHeaders(error, status), body };
}

export function writeMessagesErrorEvent(error: RouterError, requestId: string): string {
  return writeNamedEvent('error', JSON.stringify(createMessagesErrorBody(error, requestId)));
}

/** Whether an upstream of this format sent the error. Clients receive such an error unchanged, except for the request's id. */
function isUpstreamError(error: RouterError): error is RouterError & { original: { body: MessagesErrorBody } } {
  const { original } = error;
  return original?.format === messagesName && isJsonObject(original.body['error']);
}

function createMessagesErrorBody(error: RouterError, requestId: string): MessagesErrorBody {
  if (isUpstreamError(error)) return { ...error.original.body, request_id: requestId };
  const { type } = messagesErrors[error.code];
  return {
    type: 'error',
    error: { type, message: writeMessage(error), ...(error.details && { details: error.details }) },
    request_id: requestId,
  };
}

/** Returns the message of an error. A message that clients parse has the wording of Anthropic's API. */
function writeMessage(error: RouterError): string {
  switch (error.code) {
    case 'invalid_api_key':
      return error.param === 'authorization' ? 'Invalid bearer token' : 'invalid x-api-key';
    case 'model_not_found':
      return typeof error.details?.['model'] === 'string' ? `model: ${error.details['model']}` : error.message;
    case 'context_length_exceeded':
      return writeOverflowMessage(error);
    default:
      return appendRejection(error.message, readRejectedCapability(error.details));
  }
}

/**
 * Appends the rejected capability to a message, in the wording that Claude Code parses. Claude Code then retries without the capability.
 */
function appendRejection(message: string, rejected: string | undefined): string {
  return rejected === undefined ? message : `${message} (capability_rejected: ${rejected})`;
}

/**
 * Returns the message for an exceeded context. Claude Code parses the numbers or the name in parentheses. It then shortens the conversation
 * or lowers `max_tokens`.
 */
function writeOverflowMessage({ details, message }: RouterError): string {
  const input = details?.['input_tokens'];
  const output = details?.['output_tokens'];
  const maximum = details?.['maximum_tokens'];
  const tooLong = 'prompt_too_long';
  if (input === undefined || maximum === undefined) return appendRejection(`prompt is too long: ${message}`, tooLong);
  if (output === undefined || Number(input) > Number(maximum)) {
    return appendRejection(`prompt is too long: ${String(input)} tokens > ${String(maximum)} maximum`, tooLong);
  }
  return appendRejection(
    `input length and \`max_tokens\` exceed context limit: ${String(input)} + ${String(output)} > ${String(maximum)}`,
    'max_tokens_context_overflow',
  );
}
