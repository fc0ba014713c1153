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
  convertFinishReason,
} from '../message-parts.ts';

const thinkingFields = ['reasoning_content', 'reasoning'] as const;

/** Converts chat requests and answers to messages for traces. System messages stay in the conversation. */
export const chatMessageParts: MessageParts = {
  request: ({ messages }) => ({
    instructions: [],
    messages: removeEmptyMessages(
      filterObjects(messages).map((each) => ({ role: toTextOrEmpty(each['role']), parts: toParts(each) })),
    ),
  }),
  answer: ({ choices }) =>
    removeEmptyMessages(
      filterObjects(choices).map(({ message, finish_reason: reason }) => ({
        role: 'assistant',
        parts: isJsonObject(message) ? toParts(message) : [],
        finish_reason: convertFinishReason(reason),
      })),
    ),
  joinEvents: joinChunks,
};

function toParts(message: JsonObject): MessagePart[] {
  const { role, content, refusal, tool_calls: calls, tool_call_id: id } = message;
  if (role === 'tool') return [createToolResponsePart(id, toToolResponse(content, toPart))];
  const thinking = thinkingFields.map((field) => message[field]).find((each) => typeof each === 'string');
  return [
    ...toTextParts(thinking, 'reasoning'),
    ...toContentParts(content, toPart),
    ...toTextParts(refusal),
    ...filterObjects(calls).flatMap(toCallPart),
  ];
}

function toCallPart({ id, function: definition, custom }: JsonObject): MessagePart[] {
  if (isJsonObject(definition)) return [createToolCallPart(id, definition['name'], definition['arguments'])];
  return isJsonObject(custom) ? [createToolCallPart(id, custom['name'], custom['input'])] : [];
}

function toPart({ type, text, refusal, image_url: image, input_audio: audio, file }: JsonObject): MessagePart[] {
  switch (type) {
    case 'text':
      return toTextParts(text);
    case 'refusal':
      return toTextParts(refusal);
    case 'image_url':
      return isJsonObject(image) && typeof image['url'] === 'string' ? [createUrlPart('image', image['url'])] : [];
    case 'input_audio':
      return isJsonObject(audio)
        ? [createBytesPart('audio', `audio/${toTextOrEmpty(audio['format'])}`, toTextOrEmpty(audio['data']).length)]
        : [];
    case 'file':
      return isJsonObject(file) ? toFilePart(file) : [];
    default:
      return [];
  }
}

function toFilePart({ file_id: id, file_data: data }: JsonObject): MessagePart[] {
  if (typeof id === 'string') return [createFilePart('document', id)];
  if (typeof data !== 'string') return [];
  return [/^data:/i.test(data) ? createUrlPart('document', data) : createBytesPart('document', undefined, data.length)];
}

interface JoinedCall {
  id: Json | undefined;
  name: string;
  arguments: string;
}

interface JoinedChoice {
  content: string;
  refusal: string;
  reasoning: string;
  calls: Map<Json | undefined, JoinedCall>;
  reason: Json | undefined;
}

function joinChunks(events: readonly JsonObject[]): JsonObject {
  const choices = new Map<Json | undefined, JoinedChoice>();
  for (const { index, delta, finish_reason: reason } of events.flatMap((event) => filterObjects(event['choices']))) {
    const choice = choices.get(index) ?? { content: '', refusal: '', reasoning: '', calls: new Map(), reason: null };
    choices.set(index, choice);
    if (typeof reason === 'string') choice.reason = reason;
    if (!isJsonObject(delta)) continue;
    choice.content += toTextOrEmpty(delta['content']);
    choice.refusal += toTextOrEmpty(delta['refusal']);
    choice.reasoning += toTextOrEmpty(
      thinkingFields.map((field) => delta[field]).find((each) => typeof each === 'string'),
    );
    for (const call of filterObjects(delta['tool_calls'])) joinCall(choice.calls, call);
  }
  return { choices: [...choices.values()].map(toChoice) };
}

function joinCall(calls: JoinedChoice['calls'], { index, id, function: fn, custom }: JsonObject): void {
  const call = calls.get(index) ?? { id: undefined, name: '', arguments: '' };
  calls.set(index, call);
  call.id ??= id;
  for (const addition of [fn, custom].filter(isJsonObject)) {
    call.name += toTextOrEmpty(addition['name']);
    call.arguments += toTextOrEmpty(addition['arguments']) + toTextOrEmpty(addition['input']);
  }
}

function toChoice({ content, refusal, reasoning, calls, reason }: JoinedChoice): JsonObject {
  const toolCalls = [...calls.values()].map(({ id, ...definition }) => ({ id, function: definition }));
  return { message: { content, refusal, reasoning, tool_calls: toolCalls }, finish_reason: reason };
}
