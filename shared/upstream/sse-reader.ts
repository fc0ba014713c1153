import { createParser } from 'eventsource-parser';
import { RouterError } from '#shared/core/errors.ts';

/** Maximum characters of one event. Some engines send all arguments of a tool call in one event. */
const defaultMaxChars = 4 * 1024 * 1024;

/**
 * Reads an upstream's server-sent events (WHATWG HTML, "Server-sent events") from the raw bytes of its body, which may be split anywhere.
 * Returns the data of each event. Drops event names, because the formats with event names repeat them in the data.
 */
export class SseReader {
  readonly #parser;
  /** The first bytes of a character that has not arrived completely. */
  #partialCharacter: Buffer | undefined;
  #events: string[] = [];

  constructor(maxChars = defaultMaxChars) {
    this.#parser = createParser({
      maxBufferSize: maxChars,
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
   * @throws RouterError `upstream_failed` if an event exceeds `maxChars`. The reader must not be used afterwards
   */
  push(bytes: Uint8Array): string[] {
    this.#parser.feed(this.#decode(bytes));
    return this.#takeEvents();
  }

  /** Ends the body. Returns the data of a last event that lacks its blank line. */
  end(): string[] {
    this.#parser.feed(`${this.#partialCharacter?.toString() ?? ''}\n\n`);
    this.#partialCharacter = undefined;
    return this.#takeEvents();
  }

  /**
   * Decodes UTF-8 with the same result as a streaming `TextDecoder`. That decoder is slow: it uses a converter and memory outside of the
   * heap, and stores each ASCII character in two bytes.
   */
  #decode(bytes: Uint8Array): string {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const whole = this.#partialCharacter ? Buffer.concat([this.#partialCharacter, chunk]) : chunk;
    const end = whole.length - countPartialBytes(whole);
    this.#partialCharacter = end === whole.length ? undefined : Buffer.from(whole.subarray(end));
    return whole.toString('utf8', 0, end);
  }

  #takeEvents(): string[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}

/** Counts the bytes of an incomplete character at the end of a UTF-8 text. */
function countPartialBytes(text: Buffer): number {
  for (let length = 1; length <= 3; length += 1) {
    const byte = text[text.length - length];
    if (byte === undefined || byte < 0x80) return 0;
    // Bytes below 0xc0 continue a character.
    if (byte >= 0xc0) return length < (byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4) ? length : 0;
  }
  return 0;
}
