/** Is called with an event that is whole, and its number. The memory of its bytes is its own. */
export type OnEvent = (bytes: Buffer, number: number) => void;

/** An event that has begun. */
interface OpenEvent {
  /** What there is of it, its id included. */
  pieces: Buffer[];
  isNumbered: boolean;
  /** Whether a line of it ends with the last piece. */
  endsLine: boolean;
}

/** What is added to the numbers of events with each execution of a key: those of an earlier one are never taken for them. */
export const numbersOfOne = 1_000_000;

const lineFeed = 0x0a;

/** Starts of what a client gets to keep its connection alive: comments, and the pings of the messages format. */
const signsOfLife = [Buffer.from(':'), Buffer.from('event: ping\n')];

/** Whether a text of a stream is there to keep the connection alive alone, so that it has no number, and nobody misses it. */
export function isSignOfLife(text: Uint8Array): boolean {
  return signsOfLife.some((start) => start.equals(text.subarray(0, start.length)));
}

/**
 * Numbers the events of a stream from 0 on, by a line `id:` ahead of each (WHATWG HTML, "Server-sent events"), however the stream is split.
 * Events of the Responses format have the numbers that they carry, because these are counted from 0 on, too.
 */
export class EventNumberer {
  readonly #first: number;
  readonly #onEvent: OnEvent;
  /** Undefined between two events. */
  #open: OpenEvent | undefined;
  #next = 0;

  /** @param first what is added to the numbers in the ids */
  constructor(first: number, onEvent: OnEvent) {
    this.#first = first;
    this.#onEvent = onEvent;
  }

  /** Takes the next bytes of the stream and returns those to send. The owner of their memory may reuse it afterwards. */
  take(bytes: Uint8Array): Buffer {
    const given = Buffer.from(bytes);
    const sent: Buffer[] = [];
    let at = 0;
    while (at < given.length) {
      if (!this.#open) {
        this.#open = this.#begin(given.subarray(at));
        sent.push(...this.#open.pieces);
      }
      const open = this.#open;
      const end = endOfEvent(given, at, open.endsLine);
      const piece = given.subarray(at, end ?? given.length);
      sent.push(piece);
      open.pieces.push(piece);
      open.endsLine = piece.at(-1) === lineFeed;
      at += piece.length;
      if (end !== undefined) this.#close(open);
    }
    return Buffer.concat(sent);
  }

  /** Ends the stream: an event without its empty line is one of it all the same. */
  end(): void {
    if (this.#open) this.#close(this.#open);
  }

  #begin(bytes: Buffer): OpenEvent {
    const isNumbered = !isSignOfLife(bytes);
    const pieces = isNumbered ? [Buffer.from(`id: ${this.#first + this.#next}\n`)] : [];
    return { pieces, isNumbered, endsLine: false };
  }

  #close({ pieces, isNumbered }: OpenEvent): void {
    this.#open = undefined;
    if (isNumbered) this.#onEvent(Buffer.concat(pieces), this.#next++);
  }
}

/** Where the event ends that goes on at `at`; undefined if it does not end. @param endsLine whether a line of it ends ahead of `at` */
function endOfEvent(bytes: Buffer, at: number, endsLine: boolean): number | undefined {
  if (endsLine && bytes[at] === lineFeed) return at + 1;
  for (let end = bytes.indexOf(lineFeed, at); end >= 0; end = bytes.indexOf(lineFeed, end + 1)) {
    if (bytes[end + 1] === lineFeed) return end + 2;
  }
  return undefined;
}
