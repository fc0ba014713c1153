import { RouterError } from '#shared/core/errors.ts';

/** What one request holds of the router's room. */
export interface Holding {
  /** Counts bytes that were read. @throws RouterError `overloaded` when there is no room for them */
  grow: (bytes: number) => void;
  /** The body is not held any more. */
  releaseBody: () => void;
  /** The request is over. */
  release: () => void;
}

/** Bounds how many requests are read or in work at once, and what their bodies take of this process's memory. */
export class HeldBodies {
  readonly #maxBytes: number;
  readonly #maxCount: number;
  #bytes = 0;
  #count = 0;

  constructor(maxBytes: number, maxCount: number) {
    this.#maxBytes = maxBytes;
    this.#maxCount = maxCount;
  }

  /** Bytes of all bodies held right now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Makes room for one more request. @throws RouterError `overloaded` when there is none */
  open(): Holding {
    if (this.#count >= this.#maxCount) throw overloaded();
    this.#count += 1;
    let held = 0;
    let isOpen = true;
    const releaseBody = (): void => {
      this.#bytes -= held;
      held = 0;
    };
    return {
      grow: (bytes) => {
        // Decompression may go on for a while after the client has left: what it yields is not counted any more.
        if (!isOpen) throw new RouterError('invalid_json', 'The request body was cut off.');
        if (this.#bytes + bytes > this.#maxBytes) throw overloaded();
        this.#bytes += bytes;
        held += bytes;
      },
      releaseBody,
      release: () => {
        if (!isOpen) return;
        isOpen = false;
        this.#count -= 1;
        releaseBody();
      },
    };
  }
}

function overloaded(): RouterError {
  return new RouterError('overloaded', 'The router is serving as many requests as it can hold.', { retryAfter: 5 });
}
