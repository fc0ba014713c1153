import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { RelayedAnswerBuilder, isEmptyField, typeName, type RelayedAnswer } from '../relayed-answer.ts';

/**
 * Reads the events of a response that has begun.
 * @returns the reason why the response cannot be continued, as a text, unless the events contain only the first item, a message with one
 * text part
 */
export function readRelayedResponse(events: readonly JsonObject[]): RelayedAnswer | string {
  const parts = new RelayedAnswerBuilder();
  for (const event of events) {
    const reason = addEvent(parts, event);
    if (reason !== undefined) return reason;
  }
  return parts.build(events.length);
}

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
      return typeName(event['item']) === 'message' ? undefined : `there is an item of type ${typeName(event['item'])}`;
    case 'response.content_part.added':
      return typeName(event['part']) === 'output_text'
        ? undefined
        : `there is a part of type ${typeName(event['part'])}`;
    case 'response.output_text.delta':
      if (!isEmptyField(event['logprobs'])) return 'there are log probabilities';
      if (typeof event['delta'] === 'string') parts.pieces.push(event['delta']);
      return undefined;
    default:
      return `there is an event of type ${typeName(event)}`;
  }
}
