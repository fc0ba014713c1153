import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { saysNothing, type RelayedParts } from '../relayed-answer.ts';

/**
 * Reads what the chunks of chat and text completions that have begun have in common.
 * @param parts gets the id of the answer, and the time at which it was made
 * @returns the only choice of the chunk, or why the answer cannot be continued, in words for the log
 */
export function relayedChoice(parts: RelayedParts, { id, created, choices }: JsonObject): JsonObject | string {
  if (typeof id === 'string') parts.id ||= id;
  if (typeof created === 'number') parts.created ??= created;
  const [choice, ...others] = Array.isArray(choices) ? choices : [];
  if (!isJsonObject(choice)) return 'a chunk is none of the answer';
  if (others.length > 0 || (choice['index'] ?? 0) !== 0) return 'there are several choices';
  if (!saysNothing(choice['finish_reason'])) return 'the answer has ended';
  if (!saysNothing(choice['logprobs'])) return 'there are log probabilities';
  return choice;
}
