import { isJsonObject, toTextOrEmpty, type Json, type JsonObject } from '#shared/core/json.ts';
import {
  createUrlPart,
  createBytesPart,
  toContentParts,
  createFilePart,
  filterObjects,
  toToolResponse,
  removeEmptyMessages,
  toTextParts,
  createToolCallPart,
  createToolResponsePart,
  type MessagePart,
  type MessageParts,
  type Modality,
  type TraceMessage,
} from '../message-parts.ts';

/** Converts the items of Responses to messages for traces. All items of an answer become one message. */
export const responsesMessageParts: MessageParts = {
  request: ({ instructions, input }) => ({
    instructions: toTextParts(instructions),
    messages: removeEmptyMessages(
      typeof input === 'string'
        ? [{ role: 'user', parts: toTextParts(input) }]
        : filterObjects(input).map((item) => ({ role: readRole(item), parts: toParts(item) })),
    ),
  }),
  answer: (response) => {
    const parts = filterObjects(response['output']).flatMap(toParts);
    const message: TraceMessage = { role: 'assistant', parts, finish_reason: readFinishReason(response, parts) };
    return removeEmptyMessages([message]);
  },
  joinEvents,
};

function readRole({ type, role }: JsonObject): string {
  if (typeof role === 'string') return role;
  return type === 'function_call_output' || type === 'custom_tool_call_output' ? 'tool' : 'assistant';
}

function toParts(item: JsonObject): MessagePart[] {
  const { type = 'message', content, call_id: id, name } = item;
  switch (type) {
    case 'message':
      return toContentParts(content, toPart);
    case 'reasoning':
      return [item['summary'], content].flatMap((list) =>
        filterObjects(list).flatMap(({ text }) => toTextParts(text, 'reasoning')),
      );
    case 'function_call':
      return [createToolCallPart(id, name, item['arguments'])];
    case 'custom_tool_call':
      return [createToolCallPart(id, name, item['input'])];
    case 'function_call_output':
    case 'custom_tool_call_output':
      return [createToolResponsePart(id, toToolResponse(item['output'], toPart))];
    default:
      return [];
  }
}

function toPart(part: JsonObject): MessagePart[] {
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return toTextParts(part['text']);
    case 'refusal':
      return toTextParts(part['refusal']);
    case 'input_image':
      return toFileParts('image', part['file_id'], part['image_url'], undefined);
    case 'input_file':
      return toFileParts('document', part['file_id'], part['file_url'], part['file_data']);
    default:
      return [];
  }
}

function toFileParts(
  modality: Modality,
  id: Json | undefined,
  url: Json | undefined,
  data: Json | undefined,
): MessagePart[] {
  if (typeof id === 'string') return [createFilePart(modality, id)];
  if (typeof url === 'string') return [createUrlPart(modality, url)];
  if (typeof data !== 'string') return [];
  return [/^data:/i.test(data) ? createUrlPart(modality, data) : createBytesPart(modality, undefined, data.length)];
}

function readFinishReason(response: JsonObject, parts: readonly MessagePart[]): string {
  const { status, incomplete_details: details } = response;
  if (status === 'completed') return parts.some(({ type }) => type === 'tool_call') ? 'tool_call' : 'stop';
  const reason = status === 'incomplete' && isJsonObject(details) ? details['reason'] : undefined;
  if (reason === 'max_output_tokens') return 'length';
  return typeof reason === 'string' ? reason : 'error';
}

/**
 * Joins the events of a stream. A complete stream has the whole response in its last event. For a stream that was cut off, returns the
 * complete items, and the text so far of incomplete items.
 */
function joinEvents(events: readonly JsonObject[]): JsonObject {
  const items = new Map<Json | undefined, JsonObject>();
  let wholeResponse: JsonObject = {};
  for (const { type, response, output_index: index, item, delta } of events) {
    if (isJsonObject(response)) wholeResponse = response;
    if (type === 'response.output_item.done' && isJsonObject(item)) items.set(index, item);
    if (type === 'response.output_text.delta') {
      const [textSoFar] = filterObjects(items.get(index)?.['content']);
      items.set(index, {
        content: [{ type: 'text', text: toTextOrEmpty(textSoFar?.['text']) + toTextOrEmpty(delta) }],
      });
    }
  }
  return filterObjects(wholeResponse['output']).length > 0
    ? wholeResponse
    : { ...wholeResponse, output: [...items.values()] };
}
