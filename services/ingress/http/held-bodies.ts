import { RouterError } from '#shared/core/errors.ts';
import type { PartyLimits } from '#shared/accounts/limits/limits.ts';

/** The key that sends a body, by its id, and the limits that apply to it. */
export interface BodySender {
  readonly id: string;
  readonly limits: readonly PartyLimits[];
}

interface KeyUse {
  bytes: number;
  requests: number;
  /** Number of requests whose bodies are slow to arrive. */
  slow: number;
}

/** Bytes of memory per running or waiting request and its sockets, as `npm run bench` measures them, plus a margin. */
const activeBytes = 64 * 1024;

/** Returns the default limit of concurrent requests: as many as fit into half of the memory limit, between 100 and 20,000. */
export function computeDefaultMaxActive(limitBytes: number): number {
  const fits = limitBytes > 0 ? Math.floor(limitBytes / 2 / activeBytes) : Number.POSITIVE_INFINITY;
  return Math.max(100, Math.min(20_000, fits));
}

/** Returns the default limit of bytes for bodies: a quarter of the memory limit, and at most 1 GiB. */
export function computeDefaultHeldBytes(limitBytes: number): number {
  return limitBytes > 0 ? Math.min(1024 ** 3, Math.floor(limitBytes / 4)) : 1024 ** 3;
}

/**
 * Number of slow bodies that a key may have in addition to its limit of concurrent requests, because that limit does not cover token counts
 * and tool calls.
 */
const extraSlowBodies = 8;

/** A key may occupy all places for requests except one in this many, which stays free for other keys. */
const placesForOthers = 10;

/** What is held of all requests. */
interface Holdings {
  readonly maxBytes: number;
  bytes: number;
  requests: number;
  /** By key id; contains only keys that have a request. */
  readonly useByKey: Map<string, KeyUse>;
  /** Requests whose bodies are slow to arrive, the longest wait first. */
  readonly slow: Map<BodyReservation, (error: RouterError) => void>;
}

/** The part of this process's memory for bodies that is reserved for one request. */
export class BodyReservation {
  readonly #all: Holdings;
  readonly #keyUse: KeyUse;
  readonly #key: string;
  #ownBytes = 0;
  #isOpen = true;

  constructor(all: Holdings, keyUse: KeyUse, key: string) {
    this.#all = all;
    this.#keyUse = keyUse;
    this.#key = key;
    all.useByKey.set(key, keyUse);
    all.requests += 1;
    keyUse.requests += 1;
  }

  /**
   * Adds bytes that were read.
   * @throws RouterError `overloaded` if there is not enough memory for all bodies; `invalid_json` after `release`
   */
  grow(bytes: number): void {
    // Decompression may continue after the client has disconnected. The decompressed bytes must not be counted.
    if (!this.#isOpen) throw new RouterError('invalid_json', 'The request body was cut off.');
    const free = this.#all.maxBytes - this.#all.bytes - bytes;
    const otherBytes = this.#keyUse.bytes - this.#ownBytes;
    if (free < 0 || (otherBytes > 0 && otherBytes + this.#ownBytes + bytes > free)) throw overloaded();
    this.#add(bytes);
  }

  /**
   * Marks the body as slow to arrive. When another request needs the place of this one, the reservation is released and `end` is called.
   */
  markSlow(end: (error: RouterError) => void): void {
    if (!this.#isOpen || this.#all.slow.has(this)) return;
    this.#keyUse.slow += 1;
    this.#all.slow.set(this, end);
  }

  /** Marks the body as complete. */
  markArrived(): void {
    if (this.#all.slow.delete(this)) this.#keyUse.slow -= 1;
  }

  /** Releases the memory of the body. The request still occupies its place. */
  releaseBody(): void {
    this.#add(-this.#ownBytes);
  }

  /** Releases the memory and the place of the request. */
  release(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.markArrived();
    this.#all.requests -= 1;
    this.#keyUse.requests -= 1;
    this.releaseBody();
    if (this.#keyUse.requests === 0) this.#all.useByKey.delete(this.#key);
  }

  #add(bytes: number): void {
    this.#all.bytes += bytes;
    this.#ownBytes += bytes;
    this.#keyUse.bytes += bytes;
  }
}

/**
 * Limits the number of requests that arrive or run at once, and the memory of their bodies. If a key already has bodies in memory, its next
 * body is admitted only if all bodies of the key together are not larger than the memory that then stays free for other keys.
 */
export class HeldBodies {
  readonly #all: Holdings;
  readonly #maxCount: number;
  readonly #load: { readonly isBehind: boolean };

  /** @param load says whether the event loop of this process is behind */
  constructor(maxBytes: number, maxCount: number, load: { readonly isBehind: boolean } = { isBehind: false }) {
    this.#all = { maxBytes, bytes: 0, requests: 0, useByKey: new Map(), slow: new Map() };
    this.#maxCount = maxCount;
    this.#load = load;
  }

  get bytes(): number {
    return this.#all.bytes;
  }

  /**
   * Admits one more request of a key.
   * @throws RouterError `overloaded` if there are too many requests or the event loop is behind; `rate_limit_exceeded` if the key has more
   * slow bodies than it may have (see `extraSlowBodies`)
   */
  admit({ id, limits }: BodySender): BodyReservation {
    const all = this.#all;
    const keyUse = all.useByKey.get(id) ?? { bytes: 0, requests: 0, slow: 0 };
    if (keyUse.slow >= extraSlowBodies && keyUse.slow >= findConcurrentLimit(limits) + extraSlowBodies)
      throw stillArriving(keyUse.slow);
    if (all.requests >= this.#maxCount) this.#endSlowest();
    const maxOfKey = this.#maxCount - Math.floor(this.#maxCount / placesForOthers);
    if (all.requests >= this.#maxCount || keyUse.requests >= maxOfKey) throw overloaded();
    if (this.#load.isBehind) throw new RouterError('overloaded', 'The router is busy.', { retryAfter: 1 });
    return new BodyReservation(all, keyUse, id);
  }

  /** Ends the request that has waited longest for its body, because a fast client must not wait for a slow one. */
  #endSlowest(): void {
    const [slowest] = this.#all.slow;
    if (!slowest) return;
    const [reservation, end] = slowest;
    reservation.release();
    end(overloaded());
  }
}

function findConcurrentLimit(limits: readonly PartyLimits[]): number {
  return Math.min(...limits.map((party) => party.limits.concurrentRequests ?? Number.POSITIVE_INFINITY));
}

function overloaded(): RouterError {
  return new RouterError('overloaded', 'The router is serving as many requests as it can hold.', { retryAfter: 5 });
}

function stillArriving(count: number): RouterError {
  const message = `The bodies of ${count} requests of this key are still arriving.`;
  return new RouterError('rate_limit_exceeded', message, { retryAfter: 1 });
}
