import { createParser } from 'eventsource-parser';
import { RouterError } from '#shared/core/errors.ts';

/** Characters that one event may have at most. A tool call's whole arguments travel in one event of some engines. */
const defaultLimit = 4 * 1024 * 1024;

/**
 * Reads an upstream's server-sent events (WHATWG HTML, "Server-sent events") from the raw bytes of its body, wherever
 * these are split. Hands out each event's data; names are left out, because in both formats the data tells everything.
 */
export class SseReader {
  readonly #decoder = new TextDecoder();
  readonly #parser;
  #events: string[] = [];

  constructor(limit = defaultLimit) {
    this.#parser = createParser({
      maxBufferSize: limit,
      onEvent: (event) => void this.#events.push(event.data),
      onError: (error) => {
        if (error.type === 'max-buffer-size-exceeded') {
          throw new RouterError('upstream_failed', 'The upstream sent an event that is too long.', { cause: error });
        }
      },
    });
  }

  /**
   * The data of the events that these bytes complete.
   * @throws RouterError `upstream_failed` when an event outgrows the limit; the reader is of no use afterwards
   */
  push(bytes: Uint8Array): string[] {
    this.#parser.feed(this.#decoder.decode(bytes, { stream: true }));
    return this.#take();
  }

  /** Call when the body has ended: the data of a last event that was not followed by its blank line. */
  end(): string[] {
    this.#parser.feed(`${this.#decoder.decode()}\n\n`);
    return this.#take();
  }

  #take(): string[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}
