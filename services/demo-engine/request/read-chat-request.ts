import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { chatRequestSchema, type ChatRequest } from './chat-request.ts';
import { parseBody } from './read-body.ts';

/**
 * Reads and checks a chat completion request.
 * @throws RouterError `invalid_request`, `missing_parameter`, `unsupported_parameter`
 */
export function readChatRequest(body: JsonObject): ChatRequest {
  const request = parseBody(chatRequestSchema, body);
  if ((request.n ?? 1) > 1) {
    throw new RouterError('unsupported_parameter', 'This engine gives one choice: n has to be 1.', { param: 'n' });
  }
  const { tool_choice: choice } = request;
  const names = (request.tools ?? []).map((tool) => tool.function.name);
  if (choice === 'required' && names.length === 0) {
    throw new RouterError('invalid_request', 'tool_choice is "required", but no tools are offered.', {
      param: 'tool_choice',
    });
  }
  if (typeof choice === 'object' && choice !== null && !names.includes(choice.function.name)) {
    throw new RouterError('invalid_request', `tool_choice names "${choice.function.name}", which is not offered.`, {
      param: 'tool_choice',
    });
  }
  return request;
}
