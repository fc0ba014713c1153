import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { RelayedParts, saysNothing, type RelayedAnswer } from '../relayed-answer.ts';

/** Reads the chunks of a chat completion that has begun: those of one choice with nothing but text. */
export function readRelayedChat(events: readonly JsonObject[]): RelayedAnswer | string {
  const parts = new RelayedParts();
  for (const { id, created, choices } of events) {
    if (typeof id === 'string') parts.id ||= id;
    if (typeof created === 'number') parts.created ??= created;
    const [choice, ...others] = Array.isArray(choices) ? choices : [];
    if (!isJsonObject(choice)) return 'a chunk is none of the answer';
    if (others.length > 0 || (choice['index'] ?? 0) !== 0) return 'there are several choices';
    if (!saysNothing(choice['finish_reason'])) return 'the answer has ended';
    if (!saysNothing(choice['logprobs'])) return 'there are log probabilities';
    const { role: _, content, ...further } = isJsonObject(choice['delta']) ? choice['delta'] : {};
    const other = Object.keys(further).find((field) => !saysNothing(further[field]));
    if (other !== undefined) return `there is ${other}`;
    if (typeof content === 'string') parts.pieces.push(content);
    else if (!saysNothing(content)) return 'there is content of another kind';
  }
  return parts.answer();
}
