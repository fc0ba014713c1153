/** Called with each complete event and its number. The receiver owns the memory of `bytes`. */
export type OnEvent = (bytes: Buffer, number: number) => void;

interface OpenEvent {
  /** Bytes of the event so far, with its id line. */
  pieces: Buffer[];
  isNumbered: boolean;
  /** Whether the last piece ends a line. */
  endsLine: boolean;
}

/**
 * Difference between the first event ids of two successive executions of one key. The difference is large, so that an event of an earlier
 * execution is not mistaken for an event of a later one.
 */
export const eventNumberStride = 1_000_000;

const lineFeed = 0x0a;

/** Prefixes of keep-alive output: comments, and the pings of the messages format. */
const keepAlivePrefixes = [Buffer.from(':'), Buffer.from('event: ping\n')];

/** Returns whether a piece of a stream only keeps the connection alive. A keep-alive piece has no number, and need not be repeated. */
export function isKeepAlive(text: Uint8Array): boolean {
  return keepAlivePrefixes.some((start) => start.equals(text.subarray(0, start.length)));
}

/**
 * Numbers the events of a stream from 0, and puts a line `id:` before each event (WHATWG HTML, "Server-sent events"), however the stream is
 * split into pieces. In the `responses` format, these numbers equal the sequence numbers in the events, which also start at 0.
 */
export class EventNumberer {
  readonly #first: number;
  readonly #onEvent: OnEvent;
  /** The event that has begun; undefined between two events. */
  #openEvent: OpenEvent | undefined;
  #next = 0;

  /** @param first id of the first event */
  constructor(first: number, onEvent: OnEvent) {
    this.#first = first;
    this.#onEvent = onEvent;
  }

  /** Adds the next bytes of the stream and returns the bytes to send. The caller may reuse the memory of the input afterwards. */
  add(bytes: Uint8Array): Buffer {
    const chunk = Buffer.from(bytes);
    const sent: Buffer[] = [];
    let at = 0;
    while (at < chunk.length) {
      if (!this.#openEvent) {
        this.#openEvent = this.#begin(chunk.subarray(at));
        sent.push(...this.#openEvent.pieces);
      }
      const open = this.#openEvent;
      const end = endOfEvent(chunk, at, open.endsLine);
      const piece = chunk.subarray(at, end ?? chunk.length);
      sent.push(piece);
      open.pieces.push(piece);
      open.endsLine = piece.at(-1) === lineFeed;
      at += piece.length;
      if (end !== undefined) this.#close(open);
    }
    return Buffer.concat(sent);
  }

  /** Ends the stream. A last event without its empty line counts as an event. */
  end(): void {
    if (this.#openEvent) this.#close(this.#openEvent);
  }

  #begin(bytes: Buffer): OpenEvent {
    const isNumbered = !isKeepAlive(bytes);
    const pieces = isNumbered ? [Buffer.from(`id: ${this.#first + this.#next}\n`)] : [];
    return { pieces, isNumbered, endsLine: false };
  }

  #close({ pieces, isNumbered }: OpenEvent): void {
    this.#openEvent = undefined;
    if (isNumbered) this.#onEvent(Buffer.concat(pieces), this.#next++);
  }
}

/**
 * Returns where the event that continues at `at` ends; undefined if it does not end in `bytes`.
 * @param endsLine whether the byte before `at` ends a line of the event
 */
function endOfEvent(bytes: Buffer, at: number, endsLine: boolean): number | undefined {
  if (endsLine && bytes[at] === lineFeed) return at + 1;
  for (let end = bytes.indexOf(lineFeed, at); end >= 0; end = bytes.indexOf(lineFeed, end + 1)) {
    if (bytes[end + 1] === lineFeed) return end + 2;
  }
  return undefined;
}
