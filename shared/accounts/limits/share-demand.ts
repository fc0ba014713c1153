import type { Amount } from './party-use.ts';

/** Milliseconds of demand that a share aims to hold. */
const heldMs = 500;

/** Minimum that a share aims to hold, in requests: the demand of eight requests a second. */
const minRequests = 4;

/** Requests within a second from which on a share is worth its reports. */
const busyRequests = 16;

/** Maximum that a share aims to hold: sums of it stay within Redis's whole numbers. The cost is ten thousand dollars. */
const maxTarget: Readonly<Quantity> = { requests: 1e6, tokens: 1e10, cost: 1e13 };

/** Minimum time over which demand is measured, in milliseconds. */
const shortestMs = 50;

/** What is held for requests: how many may begin, and the tokens and cost of all of them. */
export interface Quantity {
  requests: number;
  tokens: number;
  cost: number;
}

export const quantityNames = ['requests', 'tokens', 'cost'] as const;

/** Measures the demand of a share's requests, and computes from it how much the share should hold. */
export class ShareDemand {
  /** The demand since the last `aim`. */
  #demand = zeroQuantity();
  /** The average request of the last measured time that had any. */
  #mean = zeroQuantity();
  #target = zeroQuantity();
  #since: number;

  /** @param now time of performance.now() */
  constructor(now: number) {
    this.#since = now;
  }

  /** What a share should hold for requests to come. */
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

  note(amount: Amount): void {
    addTo(this.#demand, 1, amount);
  }

  /** Begins a new measurement if the present one began `afterMs` ago or earlier. */
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
    this.#since = now;
    this.#demand = zeroQuantity();
  }
}

export function zeroQuantity(): Quantity {
  return { requests: 0, tokens: 0, cost: 0 };
}

export function addTo(to: Quantity, requests: number, { tokens, cost }: Amount): void {
  to.requests += requests;
  to.tokens += tokens;
  to.cost += cost;
}
