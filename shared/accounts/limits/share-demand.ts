import type { Amount } from './party-use.ts';

/** Milliseconds of demand for which a share should have room. */
const heldMs = 500;

/** Minimum number of requests for which a share should have room. It is the demand of `heldMs` at eight requests a second. */
const minRequests = 4;

/** Minimum number of requests in a second that makes a share worth its reports. */
const busyRequests = 16;

/** Maximum room that a share should have; its cost is ten thousand dollars. Sums of such rooms stay within the whole numbers of Redis. */
const maxTarget: Readonly<Quantity> = { requests: 1e6, tokens: 1e10, cost: 1e13, places: 1e6 };

/** Minimum milliseconds over which demand is measured. */
const shortestMs = 50;

/** Room for requests: how many may begin, the tokens and the cost of all of them together, and how many more may run at once. */
export interface Quantity {
  requests: number;
  tokens: number;
  cost: number;
  places: number;
}

export const quantityNames = ['requests', 'tokens', 'cost', 'places'] as const;

/** Measures the demand of a share's requests, and computes from it how much room the share should have. */
export class ShareDemand {
  /** The demand since the last `aim`. */
  #demand = zeroQuantity();
  /** The average request in the last measured time that had requests. */
  #mean = zeroQuantity();
  #target = zeroQuantity();
  /** The maximum of requests that ran at once since the last `aim`. */
  #maxRunning = 0;
  #since: number;
  readonly #countsPlaces: boolean;

  /**
   * @param now time of performance.now()
   * @param countsPlaces whether a limit of concurrent requests makes places count
   */
  constructor(now: number, countsPlaces: boolean) {
    this.#since = now;
    this.#countsPlaces = countsPlaces;
  }

  /** The room that a share should have for requests to come. */
  get target(): Readonly<Quantity> {
    return this.#target;
  }

  /** The average demand of one request. */
  get mean(): Readonly<Quantity> {
    return this.#mean;
  }

  get hasDemand(): boolean {
    return this.#demand.requests > 0;
  }

  /** Whether so many requests have come since the last `aim` that a share may be worth its reports. */
  get isBusy(): boolean {
    return this.#demand.requests >= busyRequests;
  }

  /** Whether so few requests came before the last `aim` that a share is not worth its reports. */
  get isSlow(): boolean {
    return this.#target.requests <= minRequests;
  }

  /** @param running the number of requests that run already */
  note(amount: Amount, running: number): void {
    addTo(this.#demand, 1, amount);
    this.#maxRunning = Math.max(this.#maxRunning, running + 1);
  }

  /** Begins a new measurement if the current one began at least `afterMs` ago. */
  restart(now: number, afterMs: number): void {
    if (now - this.#since < afterMs) return;
    this.#since = now;
    this.#demand = zeroQuantity();
  }

  /** Sets the target to the demand since the last call. The target rises at once, and falls by half at most. */
  aim(now: number): void {
    const factor = heldMs / Math.max(shortestMs, now - this.#since);
    const { requests } = this.#demand;
    for (const name of quantityNames) {
      if (requests > 0) this.#mean[name] = Math.ceil(this.#demand[name] / requests);
      const least = this.#mean[name] * minRequests;
      const wanted = Math.max(this.#demand[name] * factor, this.#target[name] / 2, least);
      this.#target[name] = Math.min(maxTarget[name], Math.ceil(wanted));
    }
    // As many requests again as ran at once, but no more than begin within the time for which the share has room.
    const places = Math.min(this.#target.requests, Math.max(minRequests, this.#maxRunning));
    this.#target.places = this.#countsPlaces ? places : 0;
    this.#mean.places = this.#countsPlaces ? 1 : 0;
    this.#since = now;
    this.#demand = zeroQuantity();
    this.#maxRunning = 0;
  }
}

export function zeroQuantity(): Quantity {
  return { requests: 0, tokens: 0, cost: 0, places: 0 };
}

export function addTo(to: Quantity, requests: number, { tokens, cost }: Amount): void {
  to.requests += requests;
  to.tokens += tokens;
  to.cost += cost;
}
