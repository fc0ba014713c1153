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

/** Memory of a request that runs or waits, in this process and with its sockets: as `npm run bench` measures it, and a margin. */
const activeBytes = 64 * 1024;

/** Requests at once where no number is set: as many as a half of the memory limit holds, and 20,000 at most. */
export function defaultMaxActive(limitBytes: number): number {
  const fits = limitBytes > 0 ? Math.floor(limitBytes / 2 / activeBytes) : Number.POSITIVE_INFINITY;
  return Math.max(100, Math.min(20_000, fits));
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
  readonly #load: { readonly isBehind: boolean };
  #bytes = 0;
  #count = 0;

  /** @param load whether this process is behind with what it has */
  constructor(maxBytes: number, maxCount: number, load: { readonly isBehind: boolean } = { isBehind: false }) {
    this.#maxBytes = maxBytes;
    this.#maxCount = maxCount;
    this.#load = load;
  }

  /** Bytes of all bodies held right now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Admits one more request of a key, by its id. @throws RouterError `overloaded` when there are too many, or it is behind with them */
  open(key: string): Holding {
    if (this.#count >= this.#maxCount) throw overloaded();
    if (this.#load.isBehind) throw new RouterError('overloaded', 'The router is busy.', { retryAfter: 1 });
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
