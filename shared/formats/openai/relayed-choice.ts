import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { isEmptyField, type RelayedAnswerBuilder } from '../relayed-answer.ts';

/**
 * Reads the fields that chunks of chat and of text completions have in common.
 * @param parts the builder that receives the id and the creation time of the answer
 * @returns the only choice of the chunk; if no worker can continue the answer, the reason as a text for the log
 */
export function readRelayedChoice(
  parts: RelayedAnswerBuilder,
  { id, created, choices }: JsonObject,
): JsonObject | string {
  if (typeof id === 'string') parts.id ||= id;
  if (typeof created === 'number') parts.created ??= created;
  const [choice, ...others] = Array.isArray(choices) ? choices : [];
  if (!isJsonObject(choice)) return 'a chunk has no choice';
  if (others.length > 0 || (choice['index'] ?? 0) !== 0) return 'there are several choices';
  if (!isEmptyField(choice['finish_reason'])) return 'the answer has ended';
  if (!isEmptyField(choice['logprobs'])) return 'there are log probabilities';
  return choice;
}
