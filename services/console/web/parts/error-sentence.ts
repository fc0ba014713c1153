import type { ErrorCode } from '#shared/core/errors.ts';

/** A fixed sentence for each error code. Pages show no other text about a failure, because an upstream's text may quote a prompt. */
const sentences: Record<ErrorCode, string> = {
  missing_key: 'The request carried no API key.',
  invalid_api_key: 'The API key is unknown, expired or revoked.',
  permission_denied: 'The API key does not allow this.',
  connection_required: 'The tool needs a connection to its server, which you make on the page Connections.',
  invalid_json: 'The body of the request is not valid JSON.',
  invalid_request: 'The request was refused as invalid.',
  invalid_value: 'A value in the request is out of range.',
  missing_parameter: 'The request lacks a required parameter.',
  unsupported_parameter: 'The model does not support one of the parameters.',
  context_length_exceeded: 'The request does not fit the context window of the model.',
  model_not_found: 'No model of this name is served.',
  previous_response_not_found: 'The response that the request continues is not stored.',
  response_begun_anew: 'The response is no longer the one that the client has seen: it was made anew.',
  idempotency_key_reused: 'The idempotency key was used for another request.',
  answer_not_kept: 'The answer to the idempotency key, or the part that was asked for, is not kept.',
  not_found: 'There is nothing at this path.',
  method_not_allowed: 'The path does not support this method.',
  upgrade_refused: 'There are no WebSockets here.',
  request_timeout: 'The request did not arrive in time.',
  body_too_large: 'The body of the request is too large.',
  storage_quota_exceeded: 'The files of the owner take as much space as they may.',
  unsupported_encoding: 'The content encoding of the request is not supported.',
  range_not_satisfiable: 'The file does not have the bytes that were asked for.',
  headers_too_large: 'The headers of the request are too large.',
  request_exceeds_limit: 'This single request is larger than a limit allows.',
  rate_limit_exceeded: 'A limit on the rate of requests was reached.',
  token_limit_exceeded: 'A limit on tokens was reached.',
  insufficient_quota: 'The budget is used up.',
  internal: 'The router failed. Its log says why.',
  upstream_failed: 'The engine, CLI or provider behind the worker failed.',
  workers_died: 'Two workers died while they served this request.',
  worker_lost: 'The worker was lost while it served the request.',
  no_worker_available: 'No connected worker could serve the request.',
  overloaded: 'The engine, the provider or the router was overloaded.',
  queue_timeout: 'No worker became free in time.',
  store_unavailable: 'Redis, or the storage for files, did not answer.',
  storage_full: 'The storage for files is full.',
  broker_unavailable: 'NATS did not answer.',
  shutting_down: 'The process that served the request was stopped.',
  upstream_timeout: 'The engine, CLI or provider did not answer in time.',
  first_token_timeout: 'The first token did not arrive in time.',
  idle_timeout: 'The answer paused for too long.',
  total_timeout: 'The answer took too long.',
};

/** Returns the sentence for an error code. A code of another release gets a general sentence. */
export function toErrorSentence(code: string): string {
  return Object.hasOwn(sentences, code) ? sentences[code as ErrorCode] : 'The request failed.';
}
