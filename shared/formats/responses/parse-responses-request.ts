import { RouterError } from '#shared/core/errors.ts';
import type { JsonText } from '#shared/core/json-text.ts';
import { createProblemError } from '../openai/problem-error.ts';
import { findFirstProblem } from '../validation/find-first-problem.ts';
import type { ResponsesRequest } from './request.ts';
import { responsesRequestSchema } from './schema.ts';

/**
 * Checks the body of a Responses request or token count request and returns the same object.
 * @param skim runs the check of the fields without decoding long strings
 * @throws RouterError `missing_parameter`, `invalid_request` or `unsupported_parameter`; `param` is the field's path
 */
export function parseResponsesRequest(body: unknown, skim: JsonText['skim'] = (check) => check()): ResponsesRequest {
  const parsed = skim(() => responsesRequestSchema.safeParse(body));
  if (!parsed.success) throw createProblemError(findFirstProblem(parsed.error, body));
  const request = body as ResponsesRequest;
  if (request.background === true && request.store === false) {
    const message =
      "Invalid value for 'background': background responses are stored. Send 'store: true', or omit 'store'.";
    throw new RouterError('unsupported_parameter', message, { param: 'background' });
  }
  if (request['conversation'] !== undefined && request['conversation'] !== null) {
    throw new RouterError(
      'unsupported_parameter',
      "Unsupported value for 'conversation': conversations are not stored here. Send 'previous_response_id' instead.",
      { param: 'conversation' },
    );
  }
  return request;
}
