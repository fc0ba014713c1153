import { toTextOrEmpty, type Json } from '#shared/core/json.ts';
import { filterObjects, removeEmptyMessages, toTextParts, type MessageParts } from '../message-parts.ts';
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
      messages: removeEmptyMessages(prompts.map((each) => ({ role: 'user', parts: toTextParts(each) }))),
    };
  },
  answer: ({ choices }) =>
    removeEmptyMessages(
      filterObjects(choices).map(({ text, finish_reason: reason }) => ({
        role: 'assistant',
        parts: toTextParts(text),
        finish_reason: convertFinishReason(reason),
      })),
    ),
  joinEvents: (events) => {
    const choices = new Map<Json | undefined, { text: string; finish_reason?: string }>();
    for (const { index, text, finish_reason: reason } of events.flatMap((event) => filterObjects(event['choices']))) {
      const choice = choices.get(index) ?? { text: '' };
      choices.set(index, choice);
      choice.text += toTextOrEmpty(text);
      if (typeof reason === 'string') choice.finish_reason = reason;
    }
    return { choices: [...choices.values()] };
  },
};
