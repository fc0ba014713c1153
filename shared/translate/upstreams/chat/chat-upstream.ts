import { chatFormat } from '#shared/formats/chat/chat-format.ts';
import type { EventKind, HttpUpstreamFormat } from '../../upstream-format.ts';
import { readChatError } from './upstream-error.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { ChatContent, ChatPart } from '#shared/formats/chat/request.ts';

/** Matches a finish reason. Some servers send an empty finish reason until the answer ends. */
const finishReasonPattern = /"finish_reason"\s*:\s*"[^"]/;

export function classifyChatEvent(data: string): EventKind {
  if (data === '[DONE]') return 'last';
  return finishReasonPattern.test(data) ? 'finish' : 'answer';
}

export const chatUpstream: HttpUpstreamFormat = {
  name: 'chat',
  operation: 'generate',
  path: '/chat/completions',
  headers: {},
  estimateInput: (request) => chatFormat.estimateInput(request),
  readError: readChatError,
  classifyEvent: classifyChatEvent,
};

/** Returns the delta of a choice in a chunk. Some servers call the field `message`, as in whole answers. */
export function readDelta({ delta, message }: JsonObject): JsonObject | undefined {
  if (isJsonObject(delta)) return delta;
  return isJsonObject(message) ? message : undefined;
}

/** Returns the text of content that is one text; any other content unchanged. Not every engine takes parts. */
export function simplifyParts(parts: ChatPart[]): ChatContent {
  const [first] = parts;
  if (first === undefined) return '';
  return parts.length === 1 && first.type === 'text' ? first.text : parts;
}
