import type { JsonObject } from '#shared/core/json.ts';
import { relayedChoice } from '../openai/relayed-choice.ts';
import { RelayedParts, type RelayedAnswer } from '../relayed-answer.ts';

/** Reads the chunks of a text completion that has begun. Returns the reason as a text unless all chunks are of one choice. */
export function readRelayedCompletion(events: readonly JsonObject[]): RelayedAnswer | string {
  const parts = new RelayedParts();
  for (const event of events) {
    const choice = relayedChoice(parts, event);
    if (typeof choice === 'string') return choice;
    if (typeof choice['text'] === 'string') parts.pieces.push(choice['text']);
  }
  return parts.answer();
}
