import { RouterError } from '#shared/core/errors.ts';

/** Bounds what the bodies of all requests in work take of this process's memory, and how many there are. */
export class HeldBodies {
  readonly #maxBytes: number;
  readonly #maxCount: number;
  #bytes = 0;
  #count = 0;

  constructor(maxBytes: number, maxCount: number) {
    this.#maxBytes = maxBytes;
    this.#maxCount = maxCount;
  }

  /**
   * Counts a body until the returned call lets it go.
   * @throws RouterError `overloaded` when there is no room for it
   */
  hold(bytes: number): () => void {
    if (this.#count >= this.#maxCount || this.#bytes + bytes > this.#maxBytes) {
      throw new RouterError('overloaded', 'The router is serving as many requests as it can hold.', { retryAfter: 5 });
    }
    this.#bytes += bytes;
    this.#count += 1;
    return () => {
      this.#bytes -= bytes;
      this.#count -= 1;
    };
  }
}
