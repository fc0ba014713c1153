import { RouterError } from '#shared/core/errors.ts';
import type { MemoryBound } from '#shared/serving/serve-model.ts';

/** The memory and the places that the requests of one owner hold. */
export interface OwnerUse {
  bytes: number;
  requests: number;
  /** Number of requests whose bodies are slow to arrive, by key id; contains only keys that have one. */
  readonly slowByKey: Map<string, number>;
}

/** The memory and the places that all requests hold. */
export interface Holdings {
  readonly maxBytes: number;
  bytes: number;
  requests: number;
  /** By owner; contains only owners that have a request. */
  readonly useByOwner: Map<string, OwnerUse>;
  /** Requests whose bodies are slow to arrive, the longest wait first. */
  readonly slow: Map<BodyReservation, (error: RouterError) => void>;
}

/** The part of this process's memory for bodies that is reserved for one request. */
export class BodyReservation {
  readonly #holdings: Holdings;
  readonly #ownerUse: OwnerUse;
  readonly #sender: { readonly owner: string; readonly key: string };
  #ownBytes = 0;
  #isOpen = true;

  constructor(holdings: Holdings, ownerUse: OwnerUse, sender: { readonly owner: string; readonly key: string }) {
    this.#holdings = holdings;
    this.#ownerUse = ownerUse;
    this.#sender = sender;
    holdings.useByOwner.set(sender.owner, ownerUse);
    holdings.requests += 1;
    ownerUse.requests += 1;
  }

  /**
   * Adds bytes that are about to be read, within the share of the owner, see `hold`.
   * @throws RouterError `body_too_large` if the request takes more than the memory for all bodies; `overloaded` if there is not enough
   * memory; `invalid_json` after `release`
   */
  grow(bytes: number): void {
    const { maxBytes } = this.#holdings;
    if (this.#ownBytes + bytes > maxBytes)
      throw new RouterError('body_too_large', `The request takes more than ${maxBytes} bytes of memory.`);
    this.hold(bytes, 'owner');
  }

  /**
   * Adds bytes, see `ModelSink.hold`. Within the share of the owner, as many bytes must stay free as all bodies of the owner take, if the
   * owner has other bodies in memory.
   * @throws RouterError `overloaded` if there is not enough memory for all bodies; `invalid_json` after `release`
   */
  hold(bytes: number, bound: MemoryBound): void {
    // Decompression may continue after the client has disconnected. The decompressed bytes must not be counted.
    if (!this.#isOpen) throw new RouterError('invalid_json', 'The request body was cut off.');
    const free = this.#holdings.maxBytes - this.#holdings.bytes - bytes;
    const { bytes: ownerBytes } = this.#ownerUse;
    const isOverShare = bound === 'owner' && ownerBytes > this.#ownBytes && ownerBytes + bytes > free;
    if (free < 0 || isOverShare) throw overloadedError();
    this.#add(bytes);
  }

  /** Gives back bytes that are no longer in use. */
  shrink(bytes: number): void {
    if (this.#isOpen) this.#add(-bytes);
  }

  /**
   * Marks the body as slow to arrive. When another request needs the place of this one, the reservation is released and `end` is called.
   */
  markSlow(end: (error: RouterError) => void): void {
    if (!this.#isOpen || this.#holdings.slow.has(this)) return;
    this.#countSlow(1);
    this.#holdings.slow.set(this, end);
  }

  /** Marks the body as complete. */
  markArrived(): void {
    if (this.#holdings.slow.delete(this)) this.#countSlow(-1);
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
    this.#holdings.requests -= 1;
    this.#ownerUse.requests -= 1;
    this.releaseBody();
    if (this.#ownerUse.requests === 0) this.#holdings.useByOwner.delete(this.#sender.owner);
  }

  #add(bytes: number): void {
    this.#holdings.bytes += bytes;
    this.#ownBytes += bytes;
    this.#ownerUse.bytes += bytes;
  }

  #countSlow(change: number): void {
    const { slowByKey } = this.#ownerUse;
    const count = (slowByKey.get(this.#sender.key) ?? 0) + change;
    if (count > 0) slowByKey.set(this.#sender.key, count);
    else slowByKey.delete(this.#sender.key);
  }
}

/** Returns the error for a request that finds no room. */
export function overloadedError(): RouterError {
  return new RouterError('overloaded', 'The router is serving as many requests as it can hold.', { retryAfter: 5 });
}
