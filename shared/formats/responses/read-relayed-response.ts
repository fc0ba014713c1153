import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { RelayedAnswerBuilder, isEmptyField, readTypeName, type RelayedAnswer } from '../relayed-answer.ts';

/**
 * Reads the events of a response that has begun. A worker can continue the response if its only item so far is a message with one text
 * part.
 * @returns see `ReadRelayed`
 */
export function readRelayedResponse(events: readonly JsonObject[]): RelayedAnswer | string {
  const parts = new RelayedAnswerBuilder();
  for (const event of events) {
    const reason = addEvent(parts, event);
    if (reason !== undefined) return reason;
  }
  return parts.build(events.length);
}

/** @returns the reason why no worker can continue the response; undefined if there is none */
function addEvent(parts: RelayedAnswerBuilder, event: JsonObject): string | undefined {
  const { type, response, output_index: outputIndex = 0, content_index: contentIndex = 0 } = event;
  if (outputIndex !== 0 || contentIndex !== 0) return 'there are several items';
  switch (type) {
    case 'response.created':
    case 'response.in_progress': {
      const { id, created_at: created } = isJsonObject(response) ? response : {};
      if (typeof id === 'string') parts.id ||= id;
      if (typeof created === 'number') parts.created ??= created;
      return undefined;
    }
    case 'response.output_item.added':
      return readTypeName(event['item']) === 'message'
        ? undefined
        : `there is an item of type ${readTypeName(event['item'])}`;
    case 'response.content_part.added':
      return readTypeName(event['part']) === 'output_text'
        ? undefined
        : `there is a part of type ${readTypeName(event['part'])}`;
    case 'response.output_text.delta':
      if (!isEmptyField(event['logprobs'])) return 'there are log probabilities';
      if (typeof event['delta'] === 'string') parts.pieces.push(event['delta']);
      return undefined;
    default:
      return `there is an event of type ${readTypeName(event)}`;
  }
}
