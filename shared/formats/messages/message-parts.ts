import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import {
  addressPart,
  bytesPart,
  contentParts,
  filePart,
  objectsIn,
  toolResponse,
  withoutEmptyMessages,
  textOrEmpty,
  textParts,
  toolCallPart,
  toolResponsePart,
  type MessagePart,
  type MessageParts,
  type Modality,
} from '../message-parts.ts';

/** Stop reasons that the conventions name differently. */
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
    instructions: contentParts(system, toParts),
    messages: withoutEmptyMessages(
      objectsIn(messages).map(({ role, content }) => ({
        role: textOrEmpty(role),
        parts: contentParts(content, toParts),
      })),
    ),
  }),
  answer: ({ content, stop_reason: reason }) =>
    withoutEmptyMessages([
      {
        role: 'assistant',
        parts: contentParts(content, toParts),
        finish_reason: finishReasons.get(reason) ?? (typeof reason === 'string' ? reason : 'error'),
      },
    ]),
  joinEvents,
};

function toParts(block: JsonObject): MessagePart[] {
  switch (block['type']) {
    case 'text':
      return textParts(block['text']);
    case 'thinking':
      return textParts(block['thinking'], 'reasoning');
    // A tool that runs beside the model reads like any other tool. Its results are left out, because they are sealed or whole pages.
    case 'tool_use':
    case 'server_tool_use':
      return [toolCallPart(block['id'], block['name'], block['input'])];
    case 'tool_result':
      return [toolResponsePart(block['tool_use_id'], toolResponse(block['content'], toParts))];
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
      return [bytesPart(modality, mimeType, textOrEmpty(data).length)];
    case 'url':
      return typeof url === 'string' ? [addressPart(modality, url)] : [];
    case 'file':
      return typeof id === 'string' ? [filePart(modality, id)] : [];
    default:
      return [];
  }
}

/** For each type of delta: the delta's field with the text, and the block's field that it extends. */
const deltaFields = new Map<Json | undefined, readonly [from: string, to: string]>([
  ['text_delta', ['text', 'text']],
  ['thinking_delta', ['thinking', 'thinking']],
  ['input_json_delta', ['partial_json', 'written']],
]);

function joinEvents(events: readonly JsonObject[]): JsonObject {
  const blocks = new Map<Json | undefined, JsonObject>();
  let reason: Json | undefined;
  for (const { type, index, content_block: begun, delta } of events) {
    if (type === 'content_block_start' && isJsonObject(begun)) blocks.set(index, { ...begun });
    if (!isJsonObject(delta)) continue;
    if (type === 'message_delta') reason = delta['stop_reason'] ?? reason;
    const block = blocks.get(index);
    const fields = deltaFields.get(delta['type']);
    if (type === 'content_block_delta' && block && fields)
      block[fields[1]] = textOrEmpty(block[fields[1]]) + textOrEmpty(delta[fields[0]]);
  }
  const content = [...blocks.values()].map(({ written, ...block }) =>
    typeof written === 'string' && written !== '' ? { ...block, input: written } : block,
  );
  return { content, stop_reason: reason };
}
