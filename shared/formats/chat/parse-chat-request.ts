import { RouterError } from '#shared/core/errors.ts';
import type { JsonText } from '#shared/core/json-text.ts';
import { isJsonObject, type JsonObject, type Json } from '#shared/core/json.ts';
import { findFirstProblem } from '../validation/find-first-problem.ts';
import { createProblemError } from '../openai/problem-error.ts';
import type { ChatMessage, ChatRequest } from './request.ts';
import { chatRequestSchema } from './schema.ts';

/**
 * Checks the body of a chat request and returns the same object.
 * @param skim runs the check of the fields without decoding long strings
 * @throws RouterError `missing_parameter` or `invalid_request`; `param` is the field's path
 */
export function parseChatRequest(body: unknown, skim: JsonText['skim'] = (check) => check()): ChatRequest {
  const parsed = skim(() => chatRequestSchema.safeParse(body));
  if (!parsed.success) throw createProblemError(findFirstProblem(parsed.error, body));
  const request = body as ChatRequest;
  checkStreamOptions(request);
  checkToolResults(request.messages);
  checkToolChoice(request);
  return request;
}

function checkToolResults(messages: readonly ChatMessage[]): void {
  const callIds = new Set<string>();
  for (const [position, message] of messages.entries()) {
    if (message.role === 'assistant') {
      for (const call of message.tool_calls ?? []) callIds.add(call.id);
    } else if (message.role === 'tool' && !callIds.has(message.tool_call_id)) {
      const param = `messages[${position}].tool_call_id`;
      throw new RouterError(
        'invalid_request',
        `Invalid value for '${param}': no assistant message before it has a tool call with this id.`,
        { param },
      );
    }
  }
}

/** Refuses a choice that requires a tool if the request has no such tool. The upstream checks choices of unknown types. */
function checkToolChoice({ tools, tool_choice: choice }: ChatRequest): void {
  const name = isJsonObject(choice) ? findToolName(choice) : undefined;
  if (choice !== 'required' && name === undefined) return;
  if (tools === undefined || tools === null || tools.length === 0)
    throw createChoiceError('it needs tools to choose from');
  if (name === undefined || tools.some((tool) => findToolName(tool) === name)) return;
  throw createChoiceError('the request has no tool of this name');
}

function findToolName({ type, function: fn, custom }: JsonObject): string | undefined {
  const definition = type === 'function' ? fn : type === 'custom' ? custom : undefined;
  return isJsonObject(definition) && typeof definition['name'] === 'string' ? definition['name'] : undefined;
}

function createChoiceError(reason: string): RouterError {
  return new RouterError('invalid_request', `Invalid value for 'tool_choice': ${reason}.`, { param: 'tool_choice' });
}

/**
 * Refuses stream options in a request without a stream, as OpenAI's API does.
 * @throws RouterError `invalid_request`
 */
export function checkStreamOptions(request: { stream?: Json; stream_options?: Json }): void {
  const { stream, stream_options: options } = request;
  if (options === undefined || options === null || stream === true) return;
  const message = "Invalid value for 'stream_options': it is only allowed when 'stream' is true.";
  throw new RouterError('invalid_request', message, { param: 'stream_options' });
}
