import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { readRelayedChoice } from '../openai/relayed-choice.ts';
import { RelayedAnswerBuilder, isEmptyField, type RelayedAnswer } from '../relayed-answer.ts';

/**
 * Reads the chunks of a chat completion that has begun.
 * @returns the reason why the completion cannot be continued, as a text, unless all chunks are of one choice and contain only text
 */
export function readRelayedChat(events: readonly JsonObject[]): RelayedAnswer | string {
  const parts = new RelayedAnswerBuilder();
  for (const event of events) {
    const choice = readRelayedChoice(parts, event);
    if (typeof choice === 'string') return choice;
    const { role: _, content, ...further } = isJsonObject(choice['delta']) ? choice['delta'] : {};
    const other = Object.keys(further).find((field) => !isEmptyField(further[field]));
    if (other !== undefined) return `there is ${other}`;
    if (typeof content === 'string') parts.pieces.push(content);
    else if (!isEmptyField(content)) return 'there is content of another kind';
  }
  return parts.build();
}
