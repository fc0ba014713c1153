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

/**
 * Limits how many requests are read or running at once, and the memory of their bodies. A key may add a body to those that it has
 * as long as it holds no more than it leaves free, so that there is room for the others.
 */
export class HeldBodies {
  readonly #maxBytes: number;
  readonly #maxCount: number;
  /** Bytes of each key that holds any. */
  readonly #ofKeys = new Map<string, number>();
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

  /** Admits one more request of a key, by its id. @throws RouterError `overloaded` when there are too many */
  open(key: string): Holding {
    if (this.#count >= this.#maxCount) throw overloaded();
    this.#count += 1;
    let held = 0;
    let isOpen = true;
    const add = (bytes: number): void => {
      this.#bytes += bytes;
      held += bytes;
      const ofKey = (this.#ofKeys.get(key) ?? 0) + bytes;
      if (ofKey > 0) this.#ofKeys.set(key, ofKey);
      else this.#ofKeys.delete(key);
    };
    const releaseBody = (): void => add(-held);
    return {
      grow: (bytes) => {
        // Decompression may continue after the client has disconnected; its output is not counted.
        if (!isOpen) throw new RouterError('invalid_json', 'The request body was cut off.');
        const free = this.#maxBytes - this.#bytes - bytes;
        const ofRest = (this.#ofKeys.get(key) ?? 0) - held;
        if (free < 0 || (ofRest > 0 && ofRest + held + bytes > free)) throw overloaded();
        add(bytes);
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
