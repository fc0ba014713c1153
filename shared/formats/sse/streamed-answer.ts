import type { RouterError } from '#shared/core/errors.ts';

/**
 * One streamed answer as the ingress relays it: bytes pass unread, and the router adds what only it can say. A format whose
 * events carry numbers or ids keeps them here.
 */
export interface StreamedAnswer {
  /** Counts a piece that was sent to the client. Called for each, so it must be cheap. */
  relayed(piece: Uint8Array): void;
  /** What a client that has received nothing for a while is sent. */
  keepAlive(): string;
  /** The events that end an answer which failed midway. */
  errorEvent(error: RouterError): string;
  /** Tokens of output that were relayed, estimated: for streams whose engine never reported its count. */
  readonly tokens: number;
}

/** How a format whose events carry no state words what the router adds to a stream. */
export interface StreamWords {
  keepAlive: string;
  errorEvent(error: RouterError, requestId: string): string;
  tokensIn(relayed: RelayedEvents): number;
}

/** A streamed answer of such a format. */
export class StatelessStream implements StreamedAnswer {
  readonly #words: StreamWords;
  readonly #requestId: string;
  readonly #relayed = new RelayedEvents();

  constructor(words: StreamWords, requestId: string) {
    this.#words = words;
    this.#requestId = requestId;
  }

  get tokens(): number {
    return this.#words.tokensIn(this.#relayed);
  }

  relayed(piece: Uint8Array): void {
    this.#relayed.add(piece);
  }

  keepAlive(): string {
    return this.#words.keepAlive;
  }

  errorEvent(error: RouterError): string {
    return this.#words.errorEvent(error, this.#requestId);
  }
}

/** Counts the events of a stream of server-sent events that is passed on unread, and their bytes. */
export class RelayedEvents {
  events = 0;
  bytes = 0;
  /** Bytes of the first event, its empty line included. */
  firstEventBytes = 0;

  /** Takes the next piece of the stream. Pieces hold whole events, but for very long ones. */
  add(piece: Uint8Array): void {
    const buffer = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    for (let end = buffer.indexOf('\n\n'); end >= 0; end = buffer.indexOf('\n\n', end + 2)) {
      this.events += 1;
      if (this.events === 1) this.firstEventBytes = this.bytes + end + 2;
    }
    this.bytes += piece.length;
  }
}
