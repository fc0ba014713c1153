import type { JsonObject } from '#shared/core/json.ts';
import type { Usage } from '#shared/core/usage.ts';
import { writeChatUsage, writeChatUsageDetails } from '#shared/formats/chat/usage.ts';
import type { AnswerPart, CallPart, TextPart } from '../clis/cli.ts';
import type { Outcome } from './dialogue.ts';

/** Data of the last event of a stream in the chat format. */
export const chatDone = '[DONE]';

export function encodePartChunk(part: AnswerPart): string {
  return JSON.stringify({ choices: [{ index: 0, delta: toDelta(part), finish_reason: null }] });
}

function toDelta(part: AnswerPart): JsonObject {
  switch (part.kind) {
    case 'text':
      return { content: part.text };
    case 'thinking':
      return { reasoning_content: part.text };
    case 'call':
      return { tool_calls: [{ index: part.index, ...toChatCall(part) }] };
  }
}

function toChatCall({ id, name, arguments: json }: CallPart): JsonObject {
  return { id, type: 'function', function: { name, arguments: json } };
}

export function encodeEndChunk({ finishReason, usage }: Outcome): string {
  return JSON.stringify({
    choices: [{ index: 0, delta: {}, finish_reason: finishReason }],
    ...(usage && { usage: toChatUsage(usage) }),
  });
}

/** Returns the body of an answer that is not streamed, in the chat format. */
export function buildChatBody(parts: readonly AnswerPart[], { finishReason, usage }: Outcome): JsonObject {
  const joinTexts = (kind: TextPart['kind']): string =>
    parts.map((part) => (part.kind !== 'call' && part.kind === kind ? part.text : '')).join('');
  const thinking = joinTexts('thinking');
  const calls = parts.filter((part) => part.kind === 'call').map(toChatCall);
  const message: JsonObject = {
    role: 'assistant',
    content: joinTexts('text'),
    ...(thinking !== '' && { reasoning_content: thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return {
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason }],
    ...(usage && { usage: toChatUsage(usage) }),
  };
}

function toChatUsage(usage: Usage): JsonObject {
  return writeChatUsage(usage, writeChatUsageDetails(usage));
}
