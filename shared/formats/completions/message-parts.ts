import type { Json } from '#shared/core/json.ts';
import { objectsIn, withoutEmptyMessages, textOrEmpty, textParts, type MessageParts } from '../message-parts.ts';
import { convertFinishReason } from '../openai/finish-reason.ts';

/**
 * Converts the prompts and texts of completions to messages for traces: each prompt becomes a message. Leaves out prompts that are lists of
 * tokens, and the suffix.
 */
export const completionsMessageParts: MessageParts = {
  request: ({ prompt }) => {
    const prompts = Array.isArray(prompt) ? prompt : [prompt];
    return {
      instructions: [],
      messages: withoutEmptyMessages(prompts.map((each) => ({ role: 'user', parts: textParts(each) }))),
    };
  },
  answer: ({ choices }) =>
    withoutEmptyMessages(
      objectsIn(choices).map(({ text, finish_reason: reason }) => ({
        role: 'assistant',
        parts: textParts(text),
        finish_reason: convertFinishReason(reason),
      })),
    ),
  joinEvents: (events) => {
    const choices = new Map<Json | undefined, { text: string; finish_reason?: string }>();
    for (const { index, text, finish_reason: reason } of events.flatMap((event) => objectsIn(event['choices']))) {
      const choice = choices.get(index) ?? { text: '' };
      choices.set(index, choice);
      choice.text += textOrEmpty(text);
      if (typeof reason === 'string') choice.finish_reason = reason;
    }
    return { choices: [...choices.values()] };
  },
};
