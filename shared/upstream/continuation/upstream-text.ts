import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { isEmptyField } from '#shared/formats/relayed-answer.ts';
import { readReasoningText, unifyReasoning } from '#shared/translate/upstreams/chat/reasoning.ts';

/** The content that a choice of a chunk adds to the answer. */
export type AddedContent =
  /** Text; empty if the chunk adds nothing. */
  | { kind: 'text'; text: string }
  | { kind: 'thinking' }
  /** Anything else, such as a tool call. */
  | { kind: 'other' };

/** Reads and writes the text in a stream of one upstream format. */
export interface UpstreamText {
  /** The data of the event that begins an answer; undefined for a format without such an event. */
  openingEvent: string | undefined;
  /** Writes the data of an event with a piece of text. */
  writeTextEvent(text: string): string;
  /** Writes the data of the event that ends an answer, with its usage. */
  writeEndingEvent(finishReason: string, usage: JsonObject): string;
  readAddedContent(choice: JsonObject): AddedContent;
  /** Returns the choice with another text. */
  replaceText(choice: JsonObject, text: string): JsonObject;
}

export const chatText: UpstreamText = {
  openingEvent: writeChatChunk({ role: 'assistant', content: '' }, null),
  writeTextEvent: (text) => writeChatChunk({ content: text }, null),
  writeEndingEvent: (reason, usage) => writeChatChunk({}, reason, usage),
  readAddedContent({ delta }) {
    const added = isJsonObject(delta) ? { ...delta } : {};
    unifyReasoning(added);
    if (readReasoningText(added) !== '') return { kind: 'thinking' };
    const { role: _, content, ...further } = added;
    if (Object.values(further).some((value) => !isEmptyField(value))) return { kind: 'other' };
    return { kind: 'text', text: typeof content === 'string' ? content : '' };
  },
  replaceText(choice, content) {
    const { role: _, ...delta } = isJsonObject(choice['delta']) ? choice['delta'] : {};
    return { ...choice, delta: { ...delta, content } };
  },
};

export const completionText: UpstreamText = {
  openingEvent: undefined,
  writeTextEvent: (text) => writeCompletionChunk(text, null),
  writeEndingEvent: (reason, usage) => writeCompletionChunk('', reason, usage),
  readAddedContent: ({ text }) => ({ kind: 'text', text: typeof text === 'string' ? text : '' }),
  replaceText: (choice, text) => ({ ...choice, text }),
};

function writeChatChunk(delta: JsonObject, finish: string | null, usage?: JsonObject): string {
  return JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }], usage });
}

function writeCompletionChunk(text: string, finish: string | null, usage?: JsonObject): string {
  return JSON.stringify({ choices: [{ index: 0, text, finish_reason: finish }], usage });
}
