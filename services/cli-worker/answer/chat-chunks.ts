import type { JsonObject } from '#shared/core/json.ts';
import type { Usage } from '#shared/core/usage.ts';
import { writeChatUsage, writeChatUsageDetails } from '#shared/formats/chat/usage.ts';
import type { AnswerPart, CallPart, TextPart } from '../clis/cli.ts';
import type { Outcome } from './outcome.ts';

/** Data of the last event of a stream in the chat format. */
export const chatDone = '[DONE]';

export function partChunk(part: AnswerPart): string {
  return JSON.stringify({ choices: [{ index: 0, delta: deltaOf(part), finish_reason: null }] });
}

function deltaOf(part: AnswerPart): JsonObject {
  switch (part.kind) {
    case 'text':
      return { content: part.text };
    case 'thinking':
      return { reasoning_content: part.text };
    case 'call':
      return { tool_calls: [{ index: part.index, ...chatCall(part) }] };
  }
}

function chatCall({ id, name, arguments: json }: CallPart): JsonObject {
  return { id, type: 'function', function: { name, arguments: json } };
}

export function endChunk({ finishReason, usage }: Outcome): string {
  return JSON.stringify({
    choices: [{ index: 0, delta: {}, finish_reason: finishReason }],
    ...(usage && { usage: chatUsage(usage) }),
  });
}

/** Returns the body of an answer that is not streamed, in the chat format. */
export function wholeChatBody(parts: readonly AnswerPart[], { finishReason, usage }: Outcome): JsonObject {
  const joined = (kind: TextPart['kind']): string =>
    parts.map((part) => (part.kind !== 'call' && part.kind === kind ? part.text : '')).join('');
  const thinking = joined('thinking');
  const calls = parts.filter((part) => part.kind === 'call').map(chatCall);
  const message: JsonObject = {
    role: 'assistant',
    content: joined('text'),
    ...(thinking !== '' && { reasoning_content: thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return {
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason }],
    ...(usage && { usage: chatUsage(usage) }),
  };
}

function chatUsage(usage: Usage): JsonObject {
  return writeChatUsage(usage, writeChatUsageDetails(usage));
}
