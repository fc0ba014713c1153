import { createHash } from 'node:crypto';

export interface Measured {
  bytes: number;
  /** SHA-256 as hex. */
  sha256: string;
}

export class ByteMeter {
  readonly #hash = createHash('sha256');
  #bytes = 0;

  /** Yields the same pieces; each is counted before it is passed on. */
  async *pass(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of body) {
      this.#hash.update(piece);
      this.#bytes += piece.length;
      yield piece;
    }
  }

  /** Returns count and hash of all passed bytes. Call it once, at the end. */
  result(): Measured {
    return { bytes: this.#bytes, sha256: this.#hash.digest('hex') };
  }
}
