import type { JsonObject } from '#shared/core/json.ts';
import type { Usage } from '#shared/core/usage.ts';
import { writeChatUsage, chatUsageDetails } from '#shared/formats/chat/usage.ts';
import type { AnswerPart } from '../clis/cli.ts';
import type { Outcome } from './outcome.ts';

/** Data of the last event of a stream in the chat format. */
export const chatDone = '[DONE]';

/** Data of the chat chunk for a piece of an answer. */
export function partChunk(part: AnswerPart): string {
  return JSON.stringify({ choices: [{ index: 0, delta: deltaOf(part), finish_reason: null }] });
}

function deltaOf({ kind, text }: AnswerPart): JsonObject {
  switch (kind) {
    case 'text':
      return { content: text };
    case 'thinking':
      return { reasoning_content: text };
  }
}

/** Data of the chat chunk that ends an answer. */
export function endChunk({ finishReason, usage }: Outcome): string {
  return JSON.stringify({
    choices: [{ index: 0, delta: {}, finish_reason: finishReason }],
    ...(usage && { usage: chatUsage(usage) }),
  });
}

/** The body of an answer that is not streamed, in the chat format. */
export function wholeAnswer(parts: readonly AnswerPart[], { finishReason, usage }: Outcome): JsonObject {
  const joined = (kind: AnswerPart['kind']): string =>
    parts
      .filter((part) => part.kind === kind)
      .map(({ text }) => text)
      .join('');
  const thinking = joined('thinking');
  const message: JsonObject = {
    role: 'assistant',
    content: joined('text'),
    ...(thinking !== '' && { reasoning_content: thinking }),
  };
  return {
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason }],
    ...(usage && { usage: chatUsage(usage) }),
  };
}

function chatUsage(usage: Usage): JsonObject {
  return writeChatUsage(usage, chatUsageDetails(usage));
}
