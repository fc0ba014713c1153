import { RouterError } from '#shared/core/errors.ts';

/** One request's share of this process's memory for bodies. */
export interface Holding {
  /** Counts bytes that were read. @throws RouterError `overloaded` when they exceed the limit of all bodies */
  grow: (bytes: number) => void;
  /** Releases the bytes of the body. */
  releaseBody: () => void;
  /** Releases the whole share, at the end of the request. */
  release: () => void;
}

/** Limits how many requests are read or running at once, and the memory of their bodies. */
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

  /** Admits one more request. @throws RouterError `overloaded` when there are too many */
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
        // Decompression may continue after the client has disconnected; its output is not counted.
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
