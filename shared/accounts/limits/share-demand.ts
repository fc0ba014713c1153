import type { Amount } from './party-use.ts';

/** Milliseconds of demand for which a share should have room. */
const coveredMs = 500;

/** Minimum number of requests for which a share should have room. It is the demand of `coveredMs` at eight requests a second. */
const minRequests = 4;

/** Minimum number of requests since the last measurement that makes a share worth its reports. */
const busyRequests = 16;

/** Maximum free room of a share. The maximum cost is ten thousand dollars. Sums over many shares stay within the whole numbers of Redis. */
const maxTarget: Readonly<Quantity> = { requests: 1e6, tokens: 1e10, cost: 1e13, places: 1e6 };

/** Minimum milliseconds over which demand is measured. */
const minMeasuredMs = 50;

/**
 * An amount of room or of demand: a number of requests, the tokens and the cost of all of them together, and how many of them run at once
 * (`places`).
 */
export interface Quantity {
  requests: number;
  tokens: number;
  cost: number;
  places: number;
}

export const quantityNames = ['requests', 'tokens', 'cost', 'places'] as const;

/** Measures the demand of a share's requests, and computes from it how much room the share should have. */
export class ShareDemand {
  /** The demand since the last `updateTarget`. */
  #demand = createZeroQuantity();
  /** The average request of the last measurement that had requests. */
  #mean = createZeroQuantity();
  #target = createZeroQuantity();
  /** The maximum number of requests that ran at once since the last `updateTarget`. */
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

  /** The free room that a share should have. */
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

  /** Whether so many requests have come since the last `updateTarget` that a share may be worth its reports. */
  get isBusy(): boolean {
    return this.#demand.requests >= busyRequests;
  }

  /** Whether so few requests came before the last `updateTarget` that a share is not worth its reports. */
  get isSlow(): boolean {
    return this.#target.requests <= minRequests;
  }

  /**
   * Counts a request.
   * @param running number of requests that run already
   */
  addRequest(amount: Amount, running: number): void {
    addAmount(this.#demand, 1, amount);
    this.#maxRunning = Math.max(this.#maxRunning, running + 1);
  }

  /** Begins a new measurement if the current one began at least `afterMs` ago. */
  restart(now: number, afterMs: number): void {
    if (now - this.#since < afterMs) return;
    this.#since = now;
    this.#demand = createZeroQuantity();
  }

  /** Sets the target to the demand since the last call. The target may rise by any amount, but falls by half at most. */
  updateTarget(now: number): void {
    const factor = coveredMs / Math.max(minMeasuredMs, now - this.#since);
    const { requests } = this.#demand;
    for (const name of quantityNames) {
      if (requests > 0) this.#mean[name] = Math.ceil(this.#demand[name] / requests);
      const minTarget = this.#mean[name] * minRequests;
      const target = Math.max(this.#demand[name] * factor, this.#target[name] / 2, minTarget);
      this.#target[name] = Math.min(maxTarget[name], Math.ceil(target));
    }
    // Room for as many further running requests as ran at once before, but not for more requests than the target has.
    const places = Math.min(this.#target.requests, Math.max(minRequests, this.#maxRunning));
    this.#target.places = this.#countsPlaces ? places : 0;
    this.#mean.places = this.#countsPlaces ? 1 : 0;
    this.#since = now;
    this.#demand = createZeroQuantity();
    this.#maxRunning = 0;
  }
}

export function createZeroQuantity(): Quantity {
  return { requests: 0, tokens: 0, cost: 0, places: 0 };
}

export function addAmount(to: Quantity, requests: number, { tokens, cost }: Amount): void {
  to.requests += requests;
  to.tokens += tokens;
  to.cost += cost;
}
