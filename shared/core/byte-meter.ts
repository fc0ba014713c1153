import { createHash } from 'node:crypto';

export interface ByteDigest {
  bytes: number;
  /** SHA-256 as hex. */
  sha256: string;
}

export class ByteMeter {
  readonly #hash = createHash('sha256');
  #bytes = 0;

  /** Yields the pieces of a body unchanged. Each piece is counted and hashed before it is passed on. */
  async *pass(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of body) {
      this.#hash.update(piece);
      this.#bytes += piece.length;
      yield piece;
    }
  }

  /** Returns the number and the hash of all bytes that were passed on. May be called only once, at the end. */
  result(): ByteDigest {
    return { bytes: this.#bytes, sha256: this.#hash.digest('hex') };
  }
}
