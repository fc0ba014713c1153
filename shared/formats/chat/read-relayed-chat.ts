import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { readRelayedChoice } from '../openai/relayed-choice.ts';
import { RelayedAnswerBuilder, isEmptyField, type RelayedAnswer } from '../relayed-answer.ts';

/**
 * Reads the chunks of a chat completion that has begun. A worker can continue the completion if all chunks are of one choice and contain
 * only text.
 * @returns see `ReadRelayed`
 */
export function readRelayedChat(events: readonly JsonObject[]): RelayedAnswer | string {
  const parts = new RelayedAnswerBuilder();
  for (const event of events) {
    const choice = readRelayedChoice(parts, event);
    if (typeof choice === 'string') return choice;
    const { role: _, content, ...otherFields } = isJsonObject(choice['delta']) ? choice['delta'] : {};
    const unknownField = Object.keys(otherFields).find((field) => !isEmptyField(otherFields[field]));
    if (unknownField !== undefined) return `there is ${unknownField}`;
    if (typeof content === 'string') parts.pieces.push(content);
    else if (!isEmptyField(content)) return 'there is content of another kind';
  }
  return parts.build();
}
