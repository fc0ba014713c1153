import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { RelayedParts, saysNothing, type RelayedAnswer } from '../relayed-answer.ts';

/** Reads the chunks of a text completion that has begun: those of one choice. */
export function readRelayedCompletion(events: readonly JsonObject[]): RelayedAnswer | string {
  const parts = new RelayedParts();
  for (const { id, created, choices } of events) {
    if (typeof id === 'string') parts.id ||= id;
    if (typeof created === 'number') parts.created ??= created;
    const [choice, ...others] = Array.isArray(choices) ? choices : [];
    if (!isJsonObject(choice)) return 'a chunk is none of the answer';
    if (others.length > 0 || (choice['index'] ?? 0) !== 0) return 'there are several choices';
    if (!saysNothing(choice['finish_reason'])) return 'the answer has ended';
    if (!saysNothing(choice['logprobs'])) return 'there are log probabilities';
    if (typeof choice['text'] === 'string') parts.pieces.push(choice['text']);
  }
  return parts.answer();
}
