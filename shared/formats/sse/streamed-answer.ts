import type { RouterError } from '#shared/core/errors.ts';

/**
 * One streamed answer that the ingress relays. The worker's bytes are relayed unread, and the router adds keep-alives and its own errors.
 * If events of the format carry numbers or ids, the object keeps track of them.
 */
export interface StreamedAnswer {
  /**
   * Receives the next piece of the worker's answer and returns the bytes to send. Most formats return the piece itself. Called for every
   * piece, so it must be cheap.
   * @param isLast whether the answer is complete with this piece
   */
  relay(piece: Uint8Array, isLast?: boolean): Uint8Array;
  /** Returns the text that keeps the connection alive when the client has received no bytes for a while. */
  keepAlive(): string;
  /** Returns the events that end an answer which failed midway. */
  errorEvent(error: RouterError): string;
  /** Whether an answer that fails before its first byte gets status 200 and reports the failure in its stream. */
  opensToFail?(error: RouterError): boolean;
  /**
   * Whether the answer consists of plain bytes instead of events. The upstream names their media type. Such an answer gets no keep-alives,
   * and a failure midway closes its connection.
   */
  readonly isPlain?: boolean;
  /** Estimated output tokens that were relayed. Used if the engine reports no count. */
  readonly tokens: number;
}

/** The router's additions to a stream, in a format with events that carry no numbers or ids. */
export interface StreamAdditions {
  keepAlive: string;
  errorEvent(error: RouterError, requestId: string): string;
  estimateTokens(relayed: RelayedEventCounter): number;
  /** Maximum bytes of an event without text, such as a ping or an empty delta. Absent if the sizes of such events vary too much. */
  emptyBytes?(firstEventBytes: number): number;
}

/** A streamed answer in a format with events that carry no numbers or ids. */
export class StatelessStream implements StreamedAnswer {
  readonly #additions: StreamAdditions;
  readonly #requestId: string;
  readonly #counter: RelayedEventCounter;

  constructor(additions: StreamAdditions, requestId: string) {
    this.#additions = additions;
    this.#requestId = requestId;
    this.#counter = new RelayedEventCounter(additions);
  }

  get tokens(): number {
    return this.#additions.estimateTokens(this.#counter);
  }

  relay(piece: Uint8Array): Uint8Array {
    this.#counter.add(piece);
    return piece;
  }

  keepAlive(): string {
    return this.#additions.keepAlive;
  }

  errorEvent(error: RouterError): string {
    return this.#additions.errorEvent(error, this.#requestId);
  }
}

const lineFeed = 0x0a;

/** Counts the events of a relayed stream of server-sent events: the first event, and all later events that contain text. */
export class RelayedEventCounter {
  events = 0;
  bytes = 0;
  /** Bytes of the first event, including its empty line. */
  firstEventBytes = 0;
  readonly #additions: Pick<StreamAdditions, 'emptyBytes'>;
  #emptyBytes = 0;
  #restBytes = 0;

  constructor(additions: Pick<StreamAdditions, 'emptyBytes'> = {}) {
    this.#additions = additions;
  }

  /** Counts the next piece of the stream. Only very long events are split between pieces. */
  add(piece: Uint8Array): void {
    const buffer = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    let from = 0;
    // Two searches for one byte take a quarter of the time of a search for two bytes.
    for (let end = buffer.indexOf(lineFeed); end >= 0; end = buffer.indexOf(lineFeed, end + 1)) {
      if (buffer[end + 1] !== lineFeed) continue;
      end += 1;
      this.#count(this.#restBytes + end + 1 - from);
      this.#restBytes = 0;
      from = end + 1;
    }
    this.#restBytes += piece.length - from;
  }

  #count(bytes: number): void {
    if (this.events === 0) {
      this.firstEventBytes = bytes;
      this.#emptyBytes = this.#additions.emptyBytes?.(bytes) ?? 0;
    } else if (bytes <= this.#emptyBytes) return;
    this.events += 1;
    this.bytes += bytes;
  }
}

/** A streamed answer of plain bytes, such as sound. The router adds no keep-alives and no errors. */
export class PlainStream implements StreamedAnswer {
  readonly isPlain = true;
  readonly tokens = 0;

  relay(piece: Uint8Array): Uint8Array {
    return piece;
  }

  keepAlive(): string {
    return '';
  }

  errorEvent(): string {
    return '';
  }
}
