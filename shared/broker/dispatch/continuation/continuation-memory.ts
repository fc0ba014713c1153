import { KeptStream } from './kept-stream.ts';

/** The share of the container's memory that kept streams may use by default. */
const defaultShare = 1 / 8;
/** Maximum bytes of that default. */
const maxDefaultBytes = 256 * 1024 * 1024;

/** The share of this memory that one stream may use. */
const shareOfOne = 1 / 4;
/** The share of this memory that the copies of all answers may use together. */
const shareOfAnswers = 1 / 4;

/**
 * Computes the default of `CONTINUE_BYTES`.
 * @param memoryBytes the container's memory limit; 0 if it is not known
 */
export function defaultContinueBytes(memoryBytes: number): number {
  return memoryBytes === 0 ? maxDefaultBytes : Math.min(maxDefaultBytes, Math.floor(memoryBytes * defaultShare));
}

/**
 * The bounded memory for streams that may continue on another worker. It contains the bodies of their requests, and copies of the relayed
 * answers. A stream that finds no room is not kept, and a stream that outgrows its share is dropped; such a stream ends with its worker. If
 * the copies exceed their share, the longest one is dropped, so that many clients that never read their answers leave room for all others.
 */
export class ContinuationMemory {
  readonly #maxBytes: number;
  readonly #maxAnswerBytes: number;
  readonly #kept = new Set<KeptStream>();
  #bytes = 0;
  #answerBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#maxAnswerBytes = Math.floor(maxBytes * shareOfAnswers);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Keeps a stream that begins.
   * @returns undefined if there is no room for the body of its request
   */
  keep(body: Buffer): KeptStream | undefined {
    const most = Math.floor(this.#maxBytes * shareOfOne);
    if (body.length > most || this.#bytes + body.length > this.#maxBytes) return undefined;
    let answerBytes = 0;
    const take = (bytes: number): boolean => {
      if (body.length + answerBytes + bytes > most || !this.#makeRoom(bytes, kept)) return false;
      answerBytes += bytes;
      this.#answerBytes += bytes;
      this.#bytes += bytes;
      return true;
    };
    const release = (): void => {
      this.#kept.delete(kept);
      this.#answerBytes -= answerBytes;
      this.#bytes -= body.length + answerBytes;
    };
    const kept = new KeptStream(body, take, release);
    this.#kept.add(kept);
    this.#bytes += body.length;
    return kept;
  }

  /** Makes room for further bytes of an answer's copy. Drops only longer copies for it. */
  #makeRoom(bytes: number, of: KeptStream): boolean {
    while (this.#answerBytes + bytes > this.#maxAnswerBytes) {
      const longest = this.#longest(of);
      if (longest === of) return false;
      longest.drop();
    }
    return this.#bytes + bytes <= this.#maxBytes;
  }

  #longest(first: KeptStream): KeptStream {
    let longest = first;
    for (const kept of this.#kept) if (kept.relayedBytes > longest.relayedBytes) longest = kept;
    return longest;
  }
}
