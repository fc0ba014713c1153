import { RouterError } from '#shared/core/errors.ts';
import type { PartyLimits } from '#shared/accounts/limits/limits.ts';

/** One request's share of this process's memory for bodies. */
export interface Holding {
  /** Counts bytes that were read. @throws RouterError `overloaded` when they exceed the limit of all bodies */
  grow: (bytes: number) => void;
  /** Says that the body is slow to arrive. `end` is called, and the share is released, when another request needs the place. */
  isSlow: (end: (error: RouterError) => void) => void;
  /** Says that the body is there. */
  arrived: () => void;
  /** Releases the bytes of the body. */
  releaseBody: () => void;
  /** Releases the whole share, at the end of the request. */
  release: () => void;
}

/** Who sends a body: a key, by its id, and the limits that hold for it. */
export interface BodySender {
  readonly id: string;
  readonly limits: readonly PartyLimits[];
}

/** What the requests of one key hold. */
interface Share {
  bytes: number;
  requests: number;
  /** Requests whose bodies are slow to arrive. */
  slow: number;
}

/** Memory of a request that runs or waits, in this process and with its sockets: as `npm run bench` measures it, and a margin. */
const activeBytes = 64 * 1024;

/** Requests at once where no number is set: as many as a half of the memory limit holds, and 20,000 at most. */
export function defaultMaxActive(limitBytes: number): number {
  const fits = limitBytes > 0 ? Math.floor(limitBytes / 2 / activeBytes) : Number.POSITIVE_INFINITY;
  return Math.max(100, Math.min(20_000, fits));
}

/** Bytes of bodies where no number is set: a quarter of the memory limit, and 1 GiB at most. */
export function defaultHeldBytes(limitBytes: number): number {
  return limitBytes > 0 ? Math.min(1024 ** 3, Math.floor(limitBytes / 4)) : 1024 ** 3;
}

/** Slow bodies of a key besides as many as its requests at the same time: counts of tokens and calls of tools are not limited. */
const moreSlow = 8;

/** One in so many places is for others than the key that has all the rest. */
const placesForOthers = 10;

/**
 * Limits how many requests are read or running at once, and the memory of their bodies. A key may add a body to those that it has
 * as long as it holds no more than it leaves free, so that there is room for the others.
 */
export class HeldBodies {
  readonly #maxBytes: number;
  readonly #maxCount: number;
  /** By key, of each that holds any. */
  readonly #shares = new Map<string, Share>();
  /** Requests whose bodies are slow to arrive, the one that has waited for longest first. */
  readonly #slow = new Map<Holding, (error: RouterError) => void>();
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

  /**
   * Admits one more request of a key.
   * @throws RouterError `overloaded` when there are too many, or this process is behind with them; `rate_limit_exceeded` when more bodies
   * of the key are slow to arrive than it could have requests
   */
  open({ id, limits }: BodySender): Holding {
    const share = this.#shares.get(id) ?? { bytes: 0, requests: 0, slow: 0 };
    if (share.slow >= moreSlow && share.slow >= requestsAtOnce(limits) + moreSlow) throw stillArriving(share.slow);
    if (this.#count >= this.#maxCount) this.#endSlowest();
    const maxOfKey = this.#maxCount - Math.floor(this.#maxCount / placesForOthers);
    if (this.#count >= this.#maxCount || share.requests >= maxOfKey) throw overloaded();
    if (this.#load.isBehind) throw new RouterError('overloaded', 'The router is busy.', { retryAfter: 1 });
    this.#shares.set(id, share);
    this.#count += 1;
    share.requests += 1;
    let held = 0;
    let isOpen = true;
    const add = (bytes: number): void => {
      this.#bytes += bytes;
      held += bytes;
      share.bytes += bytes;
    };
    const holding: Holding = {
      grow: (bytes) => {
        // Decompression may continue after the client has disconnected; its output is not counted.
        if (!isOpen) throw new RouterError('invalid_json', 'The request body was cut off.');
        const free = this.#maxBytes - this.#bytes - bytes;
        const ofRest = share.bytes - held;
        if (free < 0 || (ofRest > 0 && ofRest + held + bytes > free)) throw overloaded();
        add(bytes);
      },
      isSlow: (end) => {
        if (!isOpen || this.#slow.has(holding)) return;
        share.slow += 1;
        this.#slow.set(holding, end);
      },
      arrived: () => {
        if (this.#slow.delete(holding)) share.slow -= 1;
      },
      releaseBody: () => add(-held),
      release: () => {
        if (!isOpen) return;
        isOpen = false;
        holding.arrived();
        this.#count -= 1;
        share.requests -= 1;
        add(-held);
        if (share.requests === 0) this.#shares.delete(id);
      },
    };
    return holding;
  }

  /** Ends the request that has waited for its body for longest: whoever sends quickly shall not wait for who does not. */
  #endSlowest(): void {
    const [slowest] = this.#slow;
    if (!slowest) return;
    const [holding, end] = slowest;
    holding.release();
    end(overloaded());
  }
}

/** Requests at the same time that all of these limits allow. */
function requestsAtOnce(limits: readonly PartyLimits[]): number {
  return Math.min(...limits.map((party) => party.limits.concurrentRequests ?? Number.POSITIVE_INFINITY));
}

function overloaded(): RouterError {
  return new RouterError('overloaded', 'The router is serving as many requests as it can hold.', { retryAfter: 5 });
}

function stillArriving(count: number): RouterError {
  const message = `The bodies of ${count} requests of this key are still arriving.`;
  return new RouterError('rate_limit_exceeded', message, { retryAfter: 1 });
}
