import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { RelayedAnswerBuilder, readTypeName, type RelayedAnswer } from '../relayed-answer.ts';

/** The usage fields that add up to the number of input tokens. */
const inputCounts = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'] as const;

/**
 * Reads the events of a message that has begun. A worker can continue the message if its only block so far is a text. One ping follows
 * `message_start`. Workers write another ping in place of thinking that the client does not get.
 * @returns see `ReadRelayed`
 */
export function readRelayedMessage(events: readonly JsonObject[]): RelayedAnswer | string {
  const parts = new RelayedAnswerBuilder();
  let pings = 0;
  for (const event of events) {
    const { type, index, message, content_block: block, delta } = event;
    if (type === 'ping') {
      pings += 1;
      if (pings > 1) return 'there is thinking that the client does not get';
      continue;
    }
    if (type === 'message_start' && isJsonObject(message)) {
      const { id, usage } = message;
      if (typeof id === 'string') parts.id = id;
      if (isJsonObject(usage)) parts.inputTokens = sumInputTokens(usage);
    } else if (type === 'content_block_start' && isJsonObject(block)) {
      if (index !== 0 || block['type'] !== 'text') return `there is a block of type ${readTypeName(block)}`;
      if (typeof block['text'] === 'string' && block['text'] !== '') parts.pieces.push(block['text']);
    } else if (type === 'content_block_delta' && isJsonObject(delta)) {
      if (delta['type'] !== 'text_delta' || typeof delta['text'] !== 'string')
        return `there is a delta of type ${readTypeName(delta)}`;
      parts.pieces.push(delta['text']);
    } else
      return type === 'message_delta' ? 'the answer has ended' : `there is an event of type ${readTypeName(event)}`;
  }
  return parts.build();
}

function sumInputTokens(usage: JsonObject): number {
  return inputCounts.reduce((sum, name) => sum + (typeof usage[name] === 'number' ? usage[name] : 0), 0);
}
