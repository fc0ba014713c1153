import { errorTable, type RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { createAnswerId } from '../answer-id.ts';
import type { StreamOpening } from '../client-format.ts';
import { estimateTokensOfPieces } from '../estimate-tokens.ts';
import { namedEvent } from '../sse/encode.ts';
import { RelayedEventCounter, type StreamedAnswer } from '../sse/streamed-answer.ts';
import { findEventNumber } from './event-number.ts';
import { failedResponseError } from './failed-error.ts';
import { repeatedFields, responseIdPrefix, responseObject, type ResponseStatus } from './response-object.ts';
import { noBytes, WholeEventSplitter } from './whole-events.ts';

/** Every answer has at least this many events without text. */
const frameEvents = 8;

/** Bytes of a delta event without its text. */
const deltaBytes = 230;

const openings = /^event: response\.(?:created|queued|in_progress)\n/;

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
  readonly #relayed = new RelayedEventCounter();
  /** Number of the next event. It is not updated while events are relayed unread. */
  #next = 0;
  /** The last event that was relayed unread. */
  #unread: Buffer | undefined;
  #isOpen = false;
  /** The difference between new and original numbers of the worker's events; undefined before the worker's first event. */
  #shift: number | undefined;
  /** Whether the router has added no event, so that the worker's events are relayed unread. */
  #isUntouched = true;

  constructor(opening: StreamOpening) {
    this.#opening = opening;
    if (opening.nextEvent !== undefined) {
      this.#isOpen = true;
      this.#isUntouched = false;
      this.#next = opening.nextEvent;
    }
    this.#id = opening.answerId ?? createAnswerId({ answerIdPrefix: responseIdPrefix });
  }

  get tokens(): number {
    const { events, bytes, firstEventBytes } = this.#relayed;
    const deltas = Math.max(0, events - frameEvents);
    // The first two events carry the whole response object.
    return estimateTokensOfPieces(deltas, bytes - 2 * firstEventBytes - (deltas + frameEvents - 2) * deltaBytes);
  }

  relayed(piece: Uint8Array, isLast = false): Uint8Array {
    const events = isLast ? this.#events.last(piece) : this.#events.next(piece);
    if (events.length === 0) return noBytes;
    this.#relayed.add(events);
    if (!this.#isUntouched) return Buffer.from(this.#renumbered(Buffer.from(events).toString()));
    this.#unread = lastEvent(events);
    return events;
  }

  /**
   * Returns an event, because clients do not count comments as a sign of life. Once the worker has begun, the event is `keepalive`, because
   * one client empties its items at `response.in_progress`.
   */
  keepAlive(): string {
    if (!this.#hasBegun) {
      const opening = this.#open();
      return opening === '' ? this.#write('response.in_progress', { response: this.#object('in_progress') }) : opening;
    }
    this.#count();
    if (this.#shift !== undefined) this.#shift += 1;
    return this.#write('keepalive', {});
  }

  errorEvent(error: RouterError): string {
    if (this.#hasBegun) this.#count();
    const opening = this.#hasBegun ? '' : this.#open();
    const response = this.#object('failed', failedResponseError(error));
    return opening + this.#write('response.failed', { response });
  }

  /**
   * Whether to report a failure in the stream. After a status of 500 or above, and after 422, Codex repeats the request many times. After a
   * failed response whose code rules out a repetition, Codex does not repeat the request.
   */
  opensToFail({ code }: RouterError): boolean {
    const { status } = errorTable[code];
    return status >= 500 || status === 422;
  }

  get #hasBegun(): boolean {
    return this.#relayed.events > 0;
  }

  #open(): string {
    if (this.#isOpen) return '';
    this.#isOpen = true;
    this.#isUntouched = false;
    const response = this.#object('in_progress');
    return this.#write('response.created', { response }) + this.#write('response.in_progress', { response });
  }

  /** Begins to count event numbers, from the number of the last event that was relayed unread. */
  #count(): void {
    if (!this.#isUntouched) return;
    this.#isUntouched = false;
    this.#shift = 0;
    const last = findEventNumber(this.#unread?.toString() ?? '');
    if (last) this.#next = last.value + 1;
  }

  /**
   * Returns the events with numbers that follow those of the added events. Skips the opening events of a worker, because the client already
   * has them.
   */
  #renumbered(events: string): string {
    let written = '';
    for (const text of events.split(/(?<=\n\n)/)) {
      if (this.#shift === undefined && openings.test(text)) continue;
      const place = findEventNumber(text);
      if (!place) {
        written += text;
        continue;
      }
      this.#shift ??= this.#next - place.value;
      const number = place.value + this.#shift;
      written += text.slice(0, place.start) + String(number) + text.slice(place.end);
      this.#next = number + 1;
    }
    return written;
  }

  #write(type: string, fields: JsonObject): string {
    return namedEvent(type, JSON.stringify({ type, sequence_number: this.#next++, ...fields }));
  }

  #object(status: ResponseStatus, error?: { code: string; message: string }): JsonObject {
    const { repeated } = this.#opening;
    const { model, ...fields } = repeated ?? repeatedFields({});
    return responseObject({
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
function lastEvent(events: Uint8Array): Buffer {
  const start = Buffer.from(events.buffer, events.byteOffset, events.byteLength).lastIndexOf('\n\n', -3);
  return Buffer.from(events.subarray(start < 0 ? 0 : start + 2));
}
