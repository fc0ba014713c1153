import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { fillUsage } from '#shared/formats/chat/usage.ts';
import { estimateTokensOfBytes } from '#shared/formats/estimate-tokens.ts';
import { writeNamedEvent } from '#shared/formats/sse/encode.ts';
import type { Ending, AnswerContext, StreamTranslation } from '../translation.ts';
import { parseUpstreamEvent } from '../upstreams/parse-upstream-json.ts';
import {
  isToolCall,
  readResponseFinishReason,
  endsStream,
  readEventType,
} from '../upstreams/responses/responses-upstream.ts';
import { markEncrypted } from '../vocabulary/origin-mark.ts';
import { readFailure, readResponseError } from '../upstreams/responses/upstream-error.ts';
import { readResponsesUsage } from '#shared/formats/responses/usage.ts';
import { EventCompletion } from './event-completion.ts';
import { createRouterFields, replaceRouterFields } from './response-fields.ts';

const responseEvents = /^response\.(?:created|queued|in_progress|completed|incomplete|failed)$/;

/** Matches events that only open a stream or an item. */
const openingEvents = /^(?:keepalive|response\.(?:created|queued|in_progress|content_part\.added))$/;

/** Typical bytes of a delta event besides its text. */
const deltaBytes = 150;

/**
 * Relays a Responses upstream's stream to Responses clients. The data of every event is sent unchanged, with two exceptions. In events with
 * the response object, the fields that identify the answer are replaced. Encrypted content gets the upstream's mark. Other events are
 * parsed only if the server leaves out fields that clients need.
 */
export class ResponsesToResponsesStream implements StreamTranslation {
  readonly #answerContext: AnswerContext;
  /** Completes the events of a server that leaves out fields. Undefined if the first event is complete. */
  #completion: EventCompletion | undefined;
  #hasStarted = false;
  #hasContent = false;
  #hasToolCalls = false;
  #lastResponse: JsonObject | undefined;
  #outputBytes = 0;

  constructor(answerContext: AnswerContext) {
    this.#answerContext = answerContext;
  }

  get hasContent(): boolean {
    return this.#hasContent;
  }

  translateEvent(data: string): string {
    const type = readEventType(data);
    if (type === undefined) throw new RouterError('upstream_failed', 'The upstream sent an untyped event.');
    if (!this.#hasStarted) this.#start(data);
    if (type === 'error') throw readResponseError(parseUpstreamEvent(data));
    if (responseEvents.test(type)) return this.#relayResponse(type, data);
    if (type === 'response.output_item.added') this.#readItem(parseUpstreamEvent(data)['item']);
    else if (!openingEvents.test(type)) this.#hasContent = true;
    if (type.endsWith('.delta')) this.#outputBytes += Math.max(4, Buffer.byteLength(data) - deltaBytes);
    if (this.#completion) return this.#relayCompleted(parseUpstreamEvent(data));
    // Data of several lines becomes one line, so that the data stays one event.
    return this.#writeEvent(type, data.includes('\n') ? JSON.stringify(parseUpstreamEvent(data)) : data);
  }

  translateEnd(): { text: string; ending: Ending } {
    const response = this.#lastResponse;
    if (!response) {
      throw new RouterError('upstream_failed', 'The upstream closed the stream before its answer was complete.');
    }
    const usage = fillUsage(readResponsesUsage(response), {
      prompt: this.#answerContext.promptTokens,
      completion: () => estimateTokensOfBytes(this.#outputBytes),
    });
    const hasFailed = response['status'] === 'failed';
    const finishReason = hasFailed ? 'error' : readResponseFinishReason(response, this.#hasToolCalls);
    return { text: '', ending: { usage, finishReason } };
  }

  #start(data: string): void {
    this.#hasStarted = true;
    const isComplete = parseUpstreamEvent(data)['sequence_number'] !== undefined;
    if (!isComplete) this.#completion = new EventCompletion(this.#answerContext);
  }

  #readItem(item: JsonObject[string]): void {
    this.#hasToolCalls ||= isToolCall(item);
    // A message becomes content with its first text. Any other item counts as content at once, because it may send nothing more, such as
    // hidden thinking.
    this.#hasContent ||= isJsonObject(item) && item['type'] !== 'message';
  }

  /** @throws RouterError for a response that failed before any content was sent */
  #relayResponse(type: string, data: string): string {
    const event = parseUpstreamEvent(data);
    const response = isJsonObject(event['response']) ? event['response'] : {};
    if (type === 'response.failed' && !this.#hasContent) throw readFailure({ ...response, status: 'failed' });
    if (endsStream(type))
      this.#lastResponse = type === 'response.failed' ? { ...response, status: 'failed' } : response;
    if (this.#completion) return this.#relayCompleted(event);
    const changed = replaceRouterFields(data, event, createRouterFields(response, this.#answerContext));
    return this.#writeEvent(type, changed.includes('\n') ? JSON.stringify(JSON.parse(changed)) : changed);
  }

  #relayCompleted(event: JsonObject): string {
    const events = this.#completion?.complete(event) ?? [];
    return events.map((each) => this.#writeEvent(each.type, JSON.stringify(this.#setRouterFields(each)))).join('');
  }

  #writeEvent(type: string, data: string): string {
    return writeNamedEvent(type, markEncrypted(data, this.#answerContext.origin));
  }

  #setRouterFields(event: JsonObject): JsonObject {
    const { response } = event;
    return isJsonObject(response)
      ? { ...event, response: { ...response, ...createRouterFields(response, this.#answerContext) } }
      : event;
  }
}
