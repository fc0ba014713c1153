import { RouterError } from '#shared/core/errors.ts';
import { findStoreOwner, type KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import type { PartyLimits } from '#shared/accounts/limits/limits.ts';
import type { IngressContext } from '../context.ts';
import { BodyReservation, overloadedError, type Holdings } from './body-reservation.ts';
import { EventLoopLoad } from './event-loop-load.ts';

/** The fields of the identity that sends a body: the id of its key, its owner, and the limits that apply to the key. */
export type BodySender = Pick<KeyIdentity, 'id' | 'ownerId' | 'storesAs' | 'limits'>;

/** Bytes of memory per running or waiting request and its sockets, as `npm run bench` measures them, plus a margin. */
const activeBytes = 64 * 1024;

/** Returns the limit of concurrent requests: as many as fit into half of the memory limit, between 100 and 20,000. */
export function computeMaxActive(limitBytes: number): number {
  const fittingRequests = limitBytes > 0 ? Math.floor(limitBytes / 2 / activeBytes) : Number.POSITIVE_INFINITY;
  return Math.max(100, Math.min(20_000, fittingRequests));
}

/** Returns the limit of bytes for bodies: a quarter of the memory limit, and at most 1 GiB. */
export function computeHeldBytes(limitBytes: number): number {
  return limitBytes > 0 ? Math.min(1024 ** 3, Math.floor(limitBytes / 4)) : 1024 ** 3;
}

/**
 * Number of slow bodies that a key may have in addition to its limit of concurrent requests, because that limit does not cover token counts
 * and tool calls.
 */
const extraSlowBodies = 8;

/** Of the places that the others leave, an owner may take all but one in this number. */
const freePlaceDivisor = 10;

/**
 * Limits the number of requests that arrive or run at once, and the memory of their bodies, shared among owners, however many keys they
 * have. If an owner already has bodies in memory, its next body is admitted only if the memory that then stays free is at least as large as
 * all bodies of the owner.
 */
export class HeldBodies {
  readonly #holdings: Holdings;
  readonly #maxCount: number;
  readonly #load: { readonly isBehind: boolean };

  /** @param load says whether the event loop of this process is behind */
  constructor(maxBytes: number, maxCount: number, load: { readonly isBehind: boolean } = { isBehind: false }) {
    this.#holdings = { maxBytes, bytes: 0, requests: 0, useByOwner: new Map(), slow: new Map() };
    this.#maxCount = maxCount;
    this.#load = load;
  }

  get bytes(): number {
    return this.#holdings.bytes;
  }

  /**
   * Admits one more request.
   * @throws RouterError `overloaded` if there are too many requests or the event loop is behind; `rate_limit_exceeded` if the key has more
   * slow bodies than it may have (see `extraSlowBodies`)
   */
  admit(sender: BodySender): BodyReservation {
    const { id: key, limits } = sender;
    const owner = findStoreOwner(sender);
    const holdings = this.#holdings;
    const ownerUse = holdings.useByOwner.get(owner) ?? { bytes: 0, requests: 0, slowByKey: new Map() };
    const slow = ownerUse.slowByKey.get(key) ?? 0;
    if (slow >= extraSlowBodies && slow >= findConcurrentLimit(limits) + extraSlowBodies)
      throw stillArrivingError(slow);
    if (holdings.requests >= this.#maxCount) this.#endSlowest();
    const places = this.#maxCount - (holdings.requests - ownerUse.requests);
    if (holdings.requests >= this.#maxCount || ownerUse.requests >= places - Math.floor(places / freePlaceDivisor))
      throw overloadedError();
    if (this.#load.isBehind) throw new RouterError('overloaded', 'The router is busy.', { retryAfter: 1 });
    return new BodyReservation(holdings, ownerUse, { owner, key });
  }

  /** Ends the request that has waited longest for its body, because a fast client must not wait for a slow one. */
  #endSlowest(): void {
    const [slowest] = this.#holdings.slow;
    if (!slowest) return;
    const [reservation, end] = slowest;
    reservation.release();
    end(overloadedError());
  }
}

function findConcurrentLimit(limits: readonly PartyLimits[]): number {
  return Math.min(...limits.map((party) => party.limits.concurrentRequests ?? Number.POSITIVE_INFINITY));
}

function stillArrivingError(count: number): RouterError {
  const message = `The bodies of ${count} requests of this key are still arriving.`;
  return new RouterError('rate_limit_exceeded', message, { retryAfter: 1 });
}

/** Opens the bound on requests and bodies of this process. New requests are also refused while the event loop is behind. */
export function openHeldBodies({ releases }: Pick<IngressContext, 'releases'>): HeldBodies {
  const load = new EventLoopLoad();
  releases.add('event loop load', () => load.close());
  const memory = process.constrainedMemory();
  return new HeldBodies(computeHeldBytes(memory), computeMaxActive(memory), load);
}
