import type { JsonObject } from '#shared/core/json.ts';
import { readRelayedChoice } from '../openai/relayed-choice.ts';
import { RelayedAnswerBuilder, type RelayedAnswer } from '../relayed-answer.ts';

/**
 * Reads the chunks of a text completion that has begun. A worker can continue the completion if all chunks are of one choice.
 * @returns see `ReadRelayed`
 */
export function readRelayedCompletion(events: readonly JsonObject[]): RelayedAnswer | string {
  const parts = new RelayedAnswerBuilder();
  for (const event of events) {
    const choice = readRelayedChoice(parts, event);
    if (typeof choice === 'string') return choice;
    if (typeof choice['text'] === 'string') parts.pieces.push(choice['text']);
  }
  return parts.build();
}
