import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { relayedChoice } from '../openai/relayed-choice.ts';
import { RelayedParts, saysNothing, type RelayedAnswer } from '../relayed-answer.ts';

/**
 * Reads the chunks of a chat completion that has begun. Returns the reason as a text unless the chunks are of one choice with text alone.
 */
export function readRelayedChat(events: readonly JsonObject[]): RelayedAnswer | string {
  const parts = new RelayedParts();
  for (const event of events) {
    const choice = relayedChoice(parts, event);
    if (typeof choice === 'string') return choice;
    const { role: _, content, ...further } = isJsonObject(choice['delta']) ? choice['delta'] : {};
    const other = Object.keys(further).find((field) => !saysNothing(further[field]));
    if (other !== undefined) return `there is ${other}`;
    if (typeof content === 'string') parts.pieces.push(content);
    else if (!saysNothing(content)) return 'there is content of another kind';
  }
  return parts.answer();
}
