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
} from '../message-parts.ts';

/** Stop reasons that have other names in the semantic conventions. */
const finishReasons = new Map<Json | undefined, string>([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_call'],
  ['refusal', 'content_filter'],
]);

export const messagesMessageParts: MessageParts = {
  request: ({ system, messages }) => ({
    instructions: toContentParts(system, toParts),
    messages: removeEmptyMessages(
      filterObjects(messages).map(({ role, content }) => ({
        role: toTextOrEmpty(role),
        parts: toContentParts(content, toParts),
      })),
    ),
  }),
  answer: ({ content, stop_reason: reason }) =>
    removeEmptyMessages([
      {
        role: 'assistant',
        parts: toContentParts(content, toParts),
        finish_reason: finishReasons.get(reason) ?? (typeof reason === 'string' ? reason : 'error'),
      },
    ]),
  joinEvents,
};

function toParts(block: JsonObject): MessagePart[] {
  switch (block['type']) {
    case 'text':
      return toTextParts(block['text']);
    case 'thinking':
      return toTextParts(block['thinking'], 'reasoning');
    // The call of a hosted tool is shown like any other call. Its result is left out, because it is encrypted or a whole page.
    case 'tool_use':
    case 'server_tool_use':
      return [createToolCallPart(block['id'], block['name'], block['input'])];
    case 'tool_result':
      return [createToolResponsePart(block['tool_use_id'], toToolResponse(block['content'], toParts))];
    case 'image':
      return isJsonObject(block['source']) ? toSourceParts('image', block['source']) : [];
    case 'document':
      return isJsonObject(block['source']) ? toSourceParts('document', block['source']) : [];
    default:
      return [];
  }
}

function toSourceParts(modality: Modality, source: JsonObject): MessagePart[] {
  const { type, media_type: mimeType, data, url, file_id: id } = source;
  switch (type) {
    case 'base64':
    case 'text':
      return [createBytesPart(modality, mimeType, toTextOrEmpty(data).length)];
    case 'url':
      return typeof url === 'string' ? [createUrlPart(modality, url)] : [];
    case 'file':
      return typeof id === 'string' ? [createFilePart(modality, id)] : [];
    default:
      return [];
  }
}

/** Maps each type of delta to the delta's field with a text, and to the block's field that this text extends. */
const deltaFields = new Map<Json | undefined, readonly [from: string, to: string]>([
  ['text_delta', ['text', 'text']],
  ['thinking_delta', ['thinking', 'thinking']],
  ['input_json_delta', ['partial_json', 'inputText']],
]);

function joinEvents(events: readonly JsonObject[]): JsonObject {
  const blocks = new Map<Json | undefined, JsonObject>();
  let reason: Json | undefined;
  for (const { type, index, content_block: startedBlock, delta } of events) {
    if (type === 'content_block_start' && isJsonObject(startedBlock)) blocks.set(index, { ...startedBlock });
    if (!isJsonObject(delta)) continue;
    if (type === 'message_delta') reason = delta['stop_reason'] ?? reason;
    const block = blocks.get(index);
    const fields = deltaFields.get(delta['type']);
    if (type === 'content_block_delta' && block && fields)
      block[fields[1]] = toTextOrEmpty(block[fields[1]]) + toTextOrEmpty(delta[fields[0]]);
  }
  const content = [...blocks.values()].map(({ inputText, ...block }) =>
    typeof inputText === 'string' && inputText !== '' ? { ...block, input: inputText } : block,
  );
  return { content, stop_reason: reason };
}
