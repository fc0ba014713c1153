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
} from '../message-parts.ts';
import { convertFinishReason } from '../openai/finish-reason.ts';

const thinkingFields = ['reasoning_content', 'reasoning'] as const;

/** Converts chat requests and answers to messages for traces. System messages stay in the conversation. */
export const chatMessageParts: MessageParts = {
  request: ({ messages }) => ({
    instructions: [],
    messages: withoutEmptyMessages(
      objectsIn(messages).map((each) => ({ role: textOrEmpty(each['role']), parts: toParts(each) })),
    ),
  }),
  answer: ({ choices }) =>
    withoutEmptyMessages(
      objectsIn(choices).map(({ message, finish_reason: reason }) => ({
        role: 'assistant',
        parts: isJsonObject(message) ? toParts(message) : [],
        finish_reason: convertFinishReason(reason),
      })),
    ),
  joinEvents: joinChunks,
};

function toParts(message: JsonObject): MessagePart[] {
  const { role, content, refusal, tool_calls: calls, tool_call_id: id } = message;
  if (role === 'tool') return [toolResponsePart(id, toolResponse(content, toPart))];
  const thinking = thinkingFields.map((field) => message[field]).find((each) => typeof each === 'string');
  return [
    ...textParts(thinking, 'reasoning'),
    ...contentParts(content, toPart),
    ...textParts(refusal),
    ...objectsIn(calls).flatMap(toCallPart),
  ];
}

function toCallPart({ id, function: definition, custom }: JsonObject): MessagePart[] {
  if (isJsonObject(definition)) return [toolCallPart(id, definition['name'], definition['arguments'])];
  return isJsonObject(custom) ? [toolCallPart(id, custom['name'], custom['input'])] : [];
}

function toPart({ type, text, refusal, image_url: image, input_audio: audio, file }: JsonObject): MessagePart[] {
  switch (type) {
    case 'text':
      return textParts(text);
    case 'refusal':
      return textParts(refusal);
    case 'image_url':
      return isJsonObject(image) && typeof image['url'] === 'string' ? [addressPart('image', image['url'])] : [];
    case 'input_audio':
      return isJsonObject(audio)
        ? [bytesPart('audio', `audio/${textOrEmpty(audio['format'])}`, textOrEmpty(audio['data']).length)]
        : [];
    case 'file':
      return isJsonObject(file) ? toFilePart(file) : [];
    default:
      return [];
  }
}

function toFilePart({ file_id: id, file_data: data }: JsonObject): MessagePart[] {
  if (typeof id === 'string') return [filePart('document', id)];
  if (typeof data !== 'string') return [];
  return [/^data:/i.test(data) ? addressPart('document', data) : bytesPart('document', undefined, data.length)];
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
  for (const { index, delta, finish_reason: reason } of events.flatMap((event) => objectsIn(event['choices']))) {
    const choice = choices.get(index) ?? { content: '', refusal: '', reasoning: '', calls: new Map(), reason: null };
    choices.set(index, choice);
    if (typeof reason === 'string') choice.reason = reason;
    if (!isJsonObject(delta)) continue;
    choice.content += textOrEmpty(delta['content']);
    choice.refusal += textOrEmpty(delta['refusal']);
    choice.reasoning += textOrEmpty(
      thinkingFields.map((field) => delta[field]).find((each) => typeof each === 'string'),
    );
    for (const call of objectsIn(delta['tool_calls'])) joinCall(choice.calls, call);
  }
  return { choices: [...choices.values()].map(toChoice) };
}

function joinCall(calls: JoinedChoice['calls'], { index, id, function: fn, custom }: JsonObject): void {
  const call = calls.get(index) ?? { id: undefined, name: '', arguments: '' };
  calls.set(index, call);
  call.id ??= id;
  for (const called of [fn, custom].filter(isJsonObject)) {
    call.name += textOrEmpty(called['name']);
    call.arguments += textOrEmpty(called['arguments']) + textOrEmpty(called['input']);
  }
}

function toChoice({ content, refusal, reasoning, calls, reason }: JoinedChoice): JsonObject {
  const toolCalls = [...calls.values()].map(({ id, ...called }) => ({ id, function: called }));
  return { message: { content, refusal, reasoning, tool_calls: toolCalls }, finish_reason: reason };
}
