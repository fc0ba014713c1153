import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { isEmptyField } from '#shared/formats/relayed-answer.ts';
import { readReasoningText, unifyReasoning } from '#shared/translate/upstreams/chat/reasoning.ts';

export type AddedContent =
  /** Text; empty if the chunk adds nothing. */
  | { kind: 'text'; text: string }
  | { kind: 'thinking' }
  /** Anything else, such as a tool call. */
  | { kind: 'other' };

export interface UpstreamText {
  /** The data of the event that begins an answer; undefined for a format without such an event. */
  opening: string | undefined;
  /** The data of an event with a piece of text. */
  chunk(text: string): string;
  /** The data of the event that ends an answer, with its usage. */
  ending(finishReason: string, usage: JsonObject): string;
  added(choice: JsonObject): AddedContent;
  withText(choice: JsonObject, text: string): JsonObject;
}

export const chatText: UpstreamText = {
  opening: chatChunk({ role: 'assistant', content: '' }, null),
  chunk: (text) => chatChunk({ content: text }, null),
  ending: (reason, usage) => chatChunk({}, reason, usage),
  added({ delta }) {
    const added = isJsonObject(delta) ? { ...delta } : {};
    unifyReasoning(added);
    if (readReasoningText(added) !== '') return { kind: 'thinking' };
    const { role: _, content, ...further } = added;
    if (Object.values(further).some((value) => !isEmptyField(value))) return { kind: 'other' };
    return { kind: 'text', text: typeof content === 'string' ? content : '' };
  },
  withText(choice, content) {
    const { role: _, ...delta } = isJsonObject(choice['delta']) ? choice['delta'] : {};
    return { ...choice, delta: { ...delta, content } };
  },
};

export const completionText: UpstreamText = {
  opening: undefined,
  chunk: (text) => textChunk(text, null),
  ending: (reason, usage) => textChunk('', reason, usage),
  added: ({ text }) => ({ kind: 'text', text: typeof text === 'string' ? text : '' }),
  withText: (choice, text) => ({ ...choice, text }),
};

function chatChunk(delta: JsonObject, finish: string | null, usage?: JsonObject): string {
  return JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }], usage });
}

function textChunk(text: string, finish: string | null, usage?: JsonObject): string {
  return JSON.stringify({ choices: [{ index: 0, text, finish_reason: finish }], usage });
}
