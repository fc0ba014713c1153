import { errorTable, type RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { createAnswerId, type StreamOpening } from '../client-format.ts';
import { estimateTokensOfPieces } from '../estimate-tokens.ts';
import { writeNamedEvent } from '../sse/encode.ts';
import { RelayedEventCounter, type StreamedAnswer } from '../sse/streamed-answer.ts';
import { findEventNumber } from './event-numbers.ts';
import { toFailedResponseError } from './to-failed-response-error.ts';
import { readRepeatedFields, responseIdPrefix, createResponseObject, type ResponseStatus } from './response-object.ts';
import { noBytes, WholeEventSplitter } from '../sse/event-objects.ts';

/** Minimum number of events without text in an answer. */
const textlessEvents = 8;

/** Bytes of a delta event without its text. */
const deltaBytes = 230;

const openingEvent = /^event: response\.(?:created|queued|in_progress)\n/;

/**
 * One streamed answer of the Responses format. The router may open the answer before a worker has begun, and adds keep-alives and failures.
 * All events are numbered. The worker's events are relayed unread until the router adds an event. After that, the router renumbers the
 * worker's events. Only whole events are sent, because some clients lose an event that is split over two writes.
 */
export class ResponsesStream implements StreamedAnswer {
  readonly #opening: Pick<StreamOpening, 'repeated'>;
  readonly #id: string;
  readonly #created = Math.floor(Date.now() / 1000);
  readonly #events = new WholeEventSplitter();
  readonly #counter = new RelayedEventCounter();
  /** Number of the next event. It is not updated while events are relayed unread. */
  #nextNumber = 0;
  /** The last event that was relayed unread. */
  #lastUnread: Buffer | undefined;
  #isOpen = false;
  /** New number minus original number of the worker's events; undefined before the worker's first event. */
  #shift: number | undefined;
  /** Whether the worker's events are relayed unread, because the router has added no event. */
  #isUntouched = true;

  constructor(opening: StreamOpening) {
    this.#opening = opening;
    if (opening.nextEvent !== undefined) {
      this.#isOpen = true;
      this.#isUntouched = false;
      this.#nextNumber = opening.nextEvent;
    }
    this.#id = opening.answerId ?? createAnswerId({ answerIdPrefix: responseIdPrefix });
  }

  get tokens(): number {
    const { events, bytes, firstEventBytes } = this.#counter;
    const deltas = Math.max(0, events - textlessEvents);
    // The first two events carry the whole response object.
    return estimateTokensOfPieces(deltas, bytes - 2 * firstEventBytes - (deltas + textlessEvents - 2) * deltaBytes);
  }

  relay(piece: Uint8Array, isLast = false): Uint8Array {
    const events = isLast ? this.#events.finish(piece) : this.#events.takeWholeEvents(piece);
    if (events.length === 0) return noBytes;
    this.#counter.add(events);
    if (!this.#isUntouched) return Buffer.from(this.#renumber(Buffer.from(events).toString()));
    this.#lastUnread = copyLastEvent(events);
    return events;
  }

  /**
   * Returns an event. A comment would not do, because clients do not count comments as a sign of life. Once the worker has begun, the event
   * is `keepalive`, because one client clears its items at `response.in_progress`.
   */
  keepAlive(): string {
    if (!this.#hasBegun) {
      const opening = this.#writeOpening();
      return opening === ''
        ? this.#writeEvent('response.in_progress', { response: this.#createResponse('in_progress') })
        : opening;
    }
    this.#beginCounting();
    if (this.#shift !== undefined) this.#shift += 1;
    return this.#writeEvent('keepalive', {});
  }

  errorEvent(error: RouterError): string {
    if (this.#hasBegun) this.#beginCounting();
    const opening = this.#hasBegun ? '' : this.#writeOpening();
    const response = this.#createResponse('failed', toFailedResponseError(error));
    return opening + this.#writeEvent('response.failed', { response });
  }

  /**
   * Whether to report a failure in the stream instead of by the HTTP status. Codex repeats a request many times after a status of 500 or
   * above, and after 422. It does not repeat a request after a failed response with a code that rules out a repetition.
   */
  opensToFail({ code }: RouterError): boolean {
    const { status } = errorTable[code];
    return status >= 500 || status === 422;
  }

  get #hasBegun(): boolean {
    return this.#counter.events > 0;
  }

  #writeOpening(): string {
    if (this.#isOpen) return '';
    this.#isOpen = true;
    this.#isUntouched = false;
    const response = this.#createResponse('in_progress');
    return this.#writeEvent('response.created', { response }) + this.#writeEvent('response.in_progress', { response });
  }

  /** Begins to count event numbers. The count starts after the last event that was relayed unread. */
  #beginCounting(): void {
    if (!this.#isUntouched) return;
    this.#isUntouched = false;
    this.#shift = 0;
    const last = findEventNumber(this.#lastUnread?.toString() ?? '');
    if (last) this.#nextNumber = last.value + 1;
  }

  /**
   * Returns the worker's events with new numbers, which continue after the router's own events. Skips the opening events of a worker,
   * because the client already has opening events.
   */
  #renumber(events: string): string {
    let renumbered = '';
    for (const text of events.split(/(?<=\n\n)/)) {
      if (this.#shift === undefined && openingEvent.test(text)) continue;
      const eventNumber = findEventNumber(text);
      if (!eventNumber) {
        renumbered += text;
        continue;
      }
      this.#shift ??= this.#nextNumber - eventNumber.value;
      const number = eventNumber.value + this.#shift;
      renumbered += text.slice(0, eventNumber.start) + String(number) + text.slice(eventNumber.end);
      this.#nextNumber = number + 1;
    }
    return renumbered;
  }

  #writeEvent(type: string, fields: JsonObject): string {
    return writeNamedEvent(type, JSON.stringify({ type, sequence_number: this.#nextNumber++, ...fields }));
  }

  #createResponse(status: ResponseStatus, error?: { code: string; message: string }): JsonObject {
    const { repeated } = this.#opening;
    const { model, ...fields } = repeated ?? readRepeatedFields({});
    return createResponseObject({
      id: this.#id,
      model: typeof model === 'string' ? model : '',
      created: this.#created,
      status,
      repeated: fields,
      error,
    });
  }
}

/** Returns a copy of the last event, because the memory of a piece may be reused. */
function copyLastEvent(events: Uint8Array): Buffer {
  const start = Buffer.from(events.buffer, events.byteOffset, events.byteLength).lastIndexOf('\n\n', -3);
  return Buffer.from(events.subarray(start < 0 ? 0 : start + 2));
}
