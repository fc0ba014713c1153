import { createHash } from 'node:crypto';

/** What is known of bytes that went by. */
export interface Measured {
  bytes: number;
  /** SHA-256 as hex. */
  sha256: string;
}

/** Passes bytes on and counts them. */
export class ByteMeter {
  readonly #hash = createHash('sha256');
  #bytes = 0;

  /** The same pieces, each counted before it is passed on. */
  async *pass(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of body) {
      this.#hash.update(piece);
      this.#bytes += piece.length;
      yield piece;
    }
  }

  /** Of all that has passed. Call it once, at the end. */
  result(): Measured {
    return { bytes: this.#bytes, sha256: this.#hash.digest('hex') };
  }
}
