import { createParser } from 'eventsource-parser';
import { RouterError } from '#shared/core/errors.ts';

/** Maximum characters of one event. Some engines send all arguments of a tool call in one event. */
const defaultLimit = 4 * 1024 * 1024;

/**
 * Reads an upstream's server-sent events (WHATWG HTML, "Server-sent events") from the raw bytes of its body, split anywhere.
 * Returns the data of each event; names are dropped, because in both formats the data includes the type.
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
   * Returns the data of the events that these bytes complete.
   * @throws RouterError `upstream_failed` if an event exceeds the limit; the reader must not be used afterwards
   */
  push(bytes: Uint8Array): string[] {
    this.#parser.feed(this.#decoder.decode(bytes, { stream: true }));
    return this.#take();
  }

  /** Called at the end of the body; returns the data of a last event without its blank line. */
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
