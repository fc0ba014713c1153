import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { readMessagesEventError } from '../upstreams/messages/upstream-error.ts';
import { readMessagesUsage, overlayUsage } from '#shared/formats/messages/usage.ts';
import { parseUpstreamEvent } from '../upstreams/parse-upstream-json.ts';
import { writeNamedEvent } from '#shared/formats/sse/encode.ts';
import type { Ending, AnswerContext, StreamTranslation } from '../translation.ts';
import { toFinishReason } from '../vocabulary/stop-reason.ts';
import { addMarkInText } from './signature-marks.ts';

/**
 * Relays a stream in the `messages` format to a client of the same format. The data of every event is sent unchanged, with two exceptions:
 * `message_start` gets the router's id and model, and signed content gets a mark that names its upstream. Each event gets its `event:`
 * line, which clients need and some upstreams omit.
 */
export class MessagesToMessagesStream implements StreamTranslation {
  readonly #answerContext: AnswerContext;
  #hasStarted = false;
  #hasContent = false;
  #isComplete = false;
  #hasToolCalls = false;
  /** Whether the signature of the current block already has its mark. */
  #isMarked = false;
  #stopReason: Json | undefined;
  #usage: JsonObject = {};

  constructor(answerContext: AnswerContext) {
    this.#answerContext = answerContext;
  }

  get hasContent(): boolean {
    return this.#hasContent;
  }

  translateEvent(data: string): string {
    const event = parseUpstreamEvent(data);
    const { type } = event;
    switch (type) {
      case 'message_start':
        return this.#begin(event);
      case 'content_block_start':
        this.#hasToolCalls ||= isJsonObject(event['content_block']) && event['content_block']['type'] === 'tool_use';
        this.#hasContent ||= !isEmptyText(event['content_block']);
        this.#isMarked = false;
        return this.#writeMarked(type, event['content_block'], data);
      case 'content_block_delta':
        this.#hasContent ||= !isEmptyText(event['delta']);
        return this.#writeMarked(type, event['delta'], data);
      case 'message_delta':
        this.#usage = overlayUsage(this.#usage, event['usage']);
        if (isJsonObject(event['delta'])) this.#stopReason = event['delta']['stop_reason'] ?? this.#stopReason;
        break;
      case 'message_stop':
        this.#isComplete = true;
        break;
      case 'error':
        throw readMessagesEventError(event);
      default:
        if (typeof type !== 'string') throw new RouterError('upstream_failed', 'The upstream sent an untyped event.');
    }
    return writeEvent(type, data);
  }

  translateEnd(): { text: string; ending: Ending } {
    if (!this.#hasStarted || (!this.#isComplete && this.#stopReason === undefined)) {
      throw new RouterError('upstream_failed', 'The upstream closed the stream before its answer was complete.');
    }
    const finishReason = toFinishReason(this.#stopReason, this.#hasToolCalls);
    const text = this.#isComplete ? '' : writeNamedEvent('message_stop', '{"type":"message_stop"}');
    return { text, ending: { usage: readMessagesUsage(this.#usage), finishReason } };
  }

  /** Writes an event with a block or delta that may be signed. If a signature comes in pieces, the mark precedes its first piece. */
  #writeMarked(type: string, part: Json | undefined, data: string): string {
    const marked = this.#isMarked ? data : addMarkInText(data, part, this.#answerContext.origin);
    this.#isMarked ||= marked !== data;
    return writeEvent(type, marked);
  }

  #begin(event: JsonObject): string {
    const message = isJsonObject(event['message']) ? event['message'] : {};
    this.#hasStarted = true;
    this.#usage = overlayUsage(this.#usage, message['usage']);
    const changedMessage = { ...message, id: this.#answerContext.id, model: this.#answerContext.model };
    return writeNamedEvent('message_start', JSON.stringify({ ...event, message: changedMessage }));
  }
}

/** Writes an event. Joins data of several lines in one line, so that the data stays one event. */
function writeEvent(type: string, data: string): string {
  return writeNamedEvent(type, data.includes('\n') ? JSON.stringify(parseUpstreamEvent(data)) : data);
}

/** Whether a block or a delta is an empty text. Blocks of other types count as content even if they are empty. */
function isEmptyText(part: Json | undefined): boolean {
  return isJsonObject(part) && (part['type'] === 'text' || part['type'] === 'text_delta') && !part['text'];
}
