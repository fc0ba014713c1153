import { partialEvents } from '#shared/formats/sse/partial-events.ts';

/** Called with each complete event and its number. The receiver owns the memory of `bytes`. */
export type OnEvent = (bytes: Buffer, number: number) => void;

interface OpenEvent {
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

const noBytes = Buffer.alloc(0);

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
  readonly #firstId: number;
  readonly #onEvent: OnEvent;
  /** The bytes of the event that has begun, with its id line. Nothing is kept of a keep-alive. */
  readonly #partial = partialEvents.open();
  /** The event that has begun; undefined between two events. */
  #openEvent: OpenEvent | undefined;
  #nextNumber = 0;

  /** @param firstId id of the first event */
  constructor(firstId: number, onEvent: OnEvent) {
    this.#firstId = firstId;
    this.#onEvent = onEvent;
  }

  /**
   * Adds the next bytes of the stream and returns the bytes to send. The caller may reuse the memory of the input afterwards.
   * @throws RouterError `upstream_failed` if there is no room for the beginning of an event
   */
  add(bytes: Uint8Array): Buffer {
    const chunk = Buffer.from(bytes);
    const sent: Buffer[] = [];
    let position = 0;
    while (position < chunk.length) {
      if (!this.#openEvent) {
        const { event, idLine } = this.#begin(chunk.subarray(position));
        this.#openEvent = event;
        sent.push(idLine);
      }
      const event = this.#openEvent;
      const end = findEventEnd(chunk, position, event.endsLine);
      const piece = chunk.subarray(position, end ?? chunk.length);
      sent.push(piece);
      event.endsLine = piece.at(-1) === lineFeed;
      position += piece.length;
      if (end !== undefined) this.#close(event, piece);
      else if (event.isNumbered) this.#partial.add(piece);
    }
    return Buffer.concat(sent);
  }

  /** Ends the stream. A last event without its empty line counts as an event. */
  end(): void {
    if (this.#openEvent) this.#close(this.#openEvent, noBytes);
  }

  #begin(bytes: Buffer): { event: OpenEvent; idLine: Buffer } {
    const isNumbered = !isKeepAlive(bytes);
    const idLine = isNumbered ? Buffer.from(`id: ${this.#firstId + this.#nextNumber}\n`) : noBytes;
    this.#partial.add(idLine);
    return { event: { isNumbered, endsLine: false }, idLine };
  }

  #close({ isNumbered }: OpenEvent, lastPiece: Buffer): void {
    this.#openEvent = undefined;
    if (isNumbered) this.#onEvent(this.#partial.take(lastPiece), this.#nextNumber++);
  }
}

/**
 * Returns the index after the end of the event that continues at `position`; undefined if the event does not end in `bytes`.
 * @param endsLine whether the byte before `position` ends a line of the event
 */
function findEventEnd(bytes: Buffer, position: number, endsLine: boolean): number | undefined {
  if (endsLine && bytes[position] === lineFeed) return position + 1;
  for (let end = bytes.indexOf(lineFeed, position); end >= 0; end = bytes.indexOf(lineFeed, end + 1)) {
    if (bytes[end + 1] === lineFeed) return end + 2;
  }
  return undefined;
}

const boundary = Buffer.from('\n\n');

/**
 * Returns the events that follow an event, out of a section of a stream with consecutively numbered events.
 * @param last number of the last event of the section
 * @param after number of the event that the returned events follow
 */
export function selectEventsAfter(bytes: Buffer, last: number, after: number): Buffer {
  const eventCount = last - after;
  let start = bytes.length;
  for (let count = 0; count < eventCount; count += 1) {
    // Looks for the end of the previous event, because the last event may lack its empty line.
    const end = bytes.lastIndexOf(boundary, start - boundary.length - 1);
    if (end < 0) return bytes;
    start = end + boundary.length;
  }
  return bytes.subarray(start);
}
