import { KeptStream } from './kept-stream.ts';

/** The share of the container's memory limit that kept streams may use. */
const memoryShare = 1 / 8;
/** Maximum bytes that kept streams may use. */
const maxBytes = 256 * 1024 * 1024;

/** The share of the continuation memory that one stream may use. */
const streamShare = 1 / 4;
/** The share of the continuation memory that the copies of all answers may use together. */
const answersShare = 1 / 4;

/**
 * Computes the bytes that kept streams may use: an eighth of the memory limit, and at most 256 MiB.
 * @param memoryBytes the container's memory limit; 0 if it is not known
 */
export function computeContinueBytes(memoryBytes: number): number {
  return memoryBytes === 0 ? maxBytes : Math.min(maxBytes, Math.floor(memoryBytes * memoryShare));
}

/**
 * The bounded memory for streams that may continue on another worker. It contains the bodies of their requests, and copies of the relayed
 * parts of their answers. A stream for which there is no room is not kept, and a stream that outgrows its share is dropped. A stream that
 * is not kept ends if its worker is lost. If the copies exceed their share, the longest copy is dropped, so that many clients that never
 * read their answers leave room for all others.
 */
export class ContinuationMemory {
  readonly #maxBytes: number;
  readonly #maxAnswerBytes: number;
  readonly #kept = new Set<KeptStream>();
  #bytes = 0;
  #answerBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#maxAnswerBytes = Math.floor(maxBytes * answersShare);
  }

  /** Bytes of all kept streams. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Keeps a stream that begins.
   * @param body the body of the stream's request
   * @returns undefined if there is no room for the body
   */
  keep(body: Buffer): KeptStream | undefined {
    const maxStreamBytes = Math.floor(this.#maxBytes * streamShare);
    if (body.length > maxStreamBytes || this.#bytes + body.length > this.#maxBytes) return undefined;
    let answerBytes = 0;
    const reserve = (bytes: number): boolean => {
      if (body.length + answerBytes + bytes > maxStreamBytes || !this.#makeRoom(bytes, kept)) return false;
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
    const kept = new KeptStream(body, reserve, release);
    this.#kept.add(kept);
    this.#bytes += body.length;
    return kept;
  }

  /**
   * Makes room for further bytes of the copy of the stream `growing`, by dropping streams with longer copies.
   * @returns false if there is still no room
   */
  #makeRoom(bytes: number, growing: KeptStream): boolean {
    while (this.#answerBytes + bytes > this.#maxAnswerBytes) {
      const longest = this.#findLongest(growing);
      if (longest === growing) return false;
      longest.drop();
    }
    return this.#bytes + bytes <= this.#maxBytes;
  }

  #findLongest(first: KeptStream): KeptStream {
    let longest = first;
    for (const kept of this.#kept) if (kept.relayedBytes > longest.relayedBytes) longest = kept;
    return longest;
  }
}
