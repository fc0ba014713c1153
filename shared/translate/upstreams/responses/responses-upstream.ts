import { z } from 'zod';
import { type JsonObject, isJsonObject, type Json } from '#shared/core/json.ts';
import { responsesFormat } from '#shared/formats/responses/responses-format.ts';
import type { HttpUpstreamFormat } from '../../upstream-format.ts';
import { readChatError } from '../chat/upstream-error.ts';
import { parseUpstreamJson } from '../parse-upstream-json.ts';
import type { FinishReason } from '../chat/finish-reason.ts';

const countAnswer = z.looseObject({ input_tokens: z.number().int().nonnegative() });

/** The `include` value that asks for encrypted thinking, which a later request can return. */
export const encryptedThinking = 'reasoning.encrypted_content';

/** The fields of a token count request (OpenAI API reference, "Get input token counts"). */
const countedFields = [
  'model',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'reasoning',
  'text',
  'truncation',
] as const;

/** OpenAI's responses, as OpenAI, some other providers and some engines serve them. Errors have the form of chat completions. */
export const responsesUpstream: HttpUpstreamFormat = {
  name: 'responses',
  operation: 'generate',
  path: '/responses',
  headers: {},
  estimateInput: (request) => responsesFormat.estimateInput(request),
  readError: readChatError,
  classifyEvent: (data) => (endsStream(readEventType(data)) ? 'last' : 'answer'),
  count: {
    path: '/responses/input_tokens',
    request: toCountRequest,
    read: (body) => countAnswer.safeParse(body).data?.input_tokens,
  },
};

function toCountRequest(request: JsonObject): JsonObject {
  return Object.fromEntries(
    countedFields.flatMap((field) => (request[field] === undefined ? [] : [[field, request[field]]])),
  );
}

const leadingType = /^\s*\{\s*"type"\s*:\s*"([\w.-]+)"/;
const trailingType = /[{,]\s*"type"\s*:\s*"([\w.-]+)"\s*\}\s*$/;

/**
 * Reads the type of an event from the event's data; undefined if the event has no type. OpenAI writes the type first. Servers that sort
 * fields by name, such as vLLM, write it last. Finds the type in both places without parsing the event.
 */
export function readEventType(data: string): string | undefined {
  const found = leadingType.exec(data) ?? trailingType.exec(data.slice(-200));
  if (found) return found[1];
  const event = parseUpstreamJson(data);
  return isJsonObject(event) && typeof event['type'] === 'string' ? event['type'] : undefined;
}

export function endsStream(type: string | undefined): boolean {
  return type === 'response.completed' || type === 'response.incomplete' || type === 'response.failed';
}

/** Returns the finish reason, as in the chat format, of a response that has ended. */
export function readResponseFinishReason(response: Json | undefined, hasToolCalls: boolean): FinishReason {
  const { status, incomplete_details: details } = isJsonObject(response) ? response : {};
  if (status === 'incomplete') {
    return isJsonObject(details) && details['reason'] === 'content_filter' ? 'content_filter' : 'length';
  }
  return hasToolCalls ? 'tool_calls' : 'stop';
}

export function isToolCall(item: Json | undefined): boolean {
  return isJsonObject(item) && (item['type'] === 'function_call' || item['type'] === 'custom_tool_call');
}
