import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { fillUsage } from '#shared/formats/chat/usage.ts';
import { estimateTokensOfBytes } from '#shared/formats/estimate-tokens.ts';
import { writeNamedEvent } from '#shared/formats/sse/encode.ts';
import type { Ending, AnswerContext, StreamTranslation } from '../translation.ts';
import { parseUpstreamEvent } from '../upstreams/parse-upstream-json.ts';
import { isToolCall, responseFinishReason } from '../upstreams/responses/ending.ts';
import { markEncrypted } from '../upstreams/responses/encrypted-mark.ts';
import { endsStream, eventType } from '../upstreams/responses/event-type.ts';
import { readFailure, upstreamErrorFromResponse } from '../upstreams/responses/upstream-error.ts';
import { readResponsesUsage } from '#shared/formats/responses/usage.ts';
import { EventCompletion } from './event-completion.ts';
import { routerFields, withRouterFields } from './router-fields.ts';

const lifecycle = /^response\.(?:created|queued|in_progress|completed|incomplete|failed)$/;

/** Matches events that only open a stream or an item. */
const opening = /^(?:keepalive|response\.(?:created|queued|in_progress|content_part\.added))$/;

/** Bytes of a delta event without its text. */
const deltaBytes = 150;

/**
 * Relays a Responses upstream's stream to Responses clients. The data of every event is sent on unchanged, with two exceptions. In events
 * with the response object, the fields that identify the answer are replaced. Encrypted content gets the upstream's mark. Other events are
 * not parsed, unless the server leaves out fields that clients need.
 */
export class ResponsesToResponsesStream implements StreamTranslation {
  readonly #answerContext: AnswerContext;
  /** Undefined for a server whose first event shows that its events are complete. */
  #completion: EventCompletion | undefined;
  #started = false;
  #hasContent = false;
  #hasToolCalls = false;
  #last: JsonObject | undefined;
  #outputBytes = 0;

  constructor(answerContext: AnswerContext) {
    this.#answerContext = answerContext;
  }

  get hasContent(): boolean {
    return this.#hasContent;
  }

  event(data: string): string {
    const type = eventType(data);
    if (type === undefined) throw new RouterError('upstream_failed', 'The upstream sent an untyped event.');
    if (!this.#started) this.#start(data);
    if (type === 'error') throw upstreamErrorFromResponse(parseUpstreamEvent(data));
    if (lifecycle.test(type)) return this.#response(type, data);
    if (type === 'response.output_item.added') this.#item(parseUpstreamEvent(data)['item']);
    else if (!opening.test(type)) this.#hasContent = true;
    if (type.endsWith('.delta')) this.#outputBytes += Math.max(4, Buffer.byteLength(data) - deltaBytes);
    if (this.#completion) return this.#completed(parseUpstreamEvent(data));
    // Data of several lines is written as one line, so that it stays one event.
    return this.#event(type, data.includes('\n') ? JSON.stringify(parseUpstreamEvent(data)) : data);
  }

  end(): { text: string; ending: Ending } {
    const response = this.#last;
    if (!response) {
      throw new RouterError('upstream_failed', 'The upstream closed the stream before its answer was complete.');
    }
    const usage = fillUsage(readResponsesUsage(response), {
      prompt: this.#answerContext.promptTokens,
      completion: () => estimateTokensOfBytes(this.#outputBytes),
    });
    const failed = response['status'] === 'failed';
    const finishReason = failed ? 'error' : responseFinishReason(response, this.#hasToolCalls);
    return { text: '', ending: { usage, finishReason } };
  }

  #start(data: string): void {
    this.#started = true;
    const isComplete = parseUpstreamEvent(data)['sequence_number'] !== undefined;
    if (!isComplete) this.#completion = new EventCompletion(this.#answerContext);
  }

  #item(item: JsonObject[string]): void {
    this.#hasToolCalls ||= isToolCall(item);
    // A message is content once it has a text. Other items are content by themselves, because hidden thinking sends nothing else.
    this.#hasContent ||= isJsonObject(item) && item['type'] !== 'message';
  }

  /** @throws RouterError for a response that failed before any of its content was sent */
  #response(type: string, data: string): string {
    const event = parseUpstreamEvent(data);
    const response = isJsonObject(event['response']) ? event['response'] : {};
    if (type === 'response.failed' && !this.#hasContent) throw readFailure({ ...response, status: 'failed' });
    if (endsStream(type)) this.#last = type === 'response.failed' ? { ...response, status: 'failed' } : response;
    if (this.#completion) return this.#completed(event);
    const own = withRouterFields(data, event, routerFields(response, this.#answerContext));
    return this.#event(type, own.includes('\n') ? JSON.stringify(JSON.parse(own)) : own);
  }

  #completed(event: JsonObject): string {
    const events = this.#completion?.complete(event) ?? [];
    return events.map((each) => this.#event(each.type, JSON.stringify(this.#owned(each)))).join('');
  }

  #event(type: string, data: string): string {
    return writeNamedEvent(type, markEncrypted(data, this.#answerContext.origin));
  }

  #owned(event: JsonObject): JsonObject {
    const { response } = event;
    return isJsonObject(response)
      ? { ...event, response: { ...response, ...routerFields(response, this.#answerContext) } }
      : event;
  }
}
