import type { Amount } from './party-use.ts';

/** Milliseconds of demand that a share aims to hold. */
const heldMs = 500;

/** A share aims to hold as much as so many requests at least: what eight a second ask for. */
const leastRequests = 4;

/** Requests for which a share is worth its reports, if they come within a second. */
const busyRequests = 16;

/** A share aims at no more than this: sums of it stay within Redis' whole numbers. Cost is ten thousand dollars. */
const most: Readonly<Quantity> = { requests: 1e6, tokens: 1e10, cost: 1e13 };

/** Demand is measured over so many milliseconds at least. */
const shortestMs = 50;

/** What is held for requests: how many may begin, and what they may come to together. */
export interface Quantity {
  requests: number;
  tokens: number;
  cost: number;
}

/** The names of all counts of a Quantity. */
export const quantityNames = ['requests', 'tokens', 'cost'] as const;

/** How much the requests of a share ask for, and so how much it should hold. */
export class ShareDemand {
  /** Since it was last aimed. */
  #asked = noQuantity();
  /** Of the last time in which there were requests. */
  #mean = noQuantity();
  #target = noQuantity();
  #since: number;

  /** @param now of performance.now() */
  constructor(now: number) {
    this.#since = now;
  }

  /** What a share should hold for requests to come. */
  get target(): Readonly<Quantity> {
    return this.#target;
  }

  /** What one request asks for, on average. */
  get mean(): Readonly<Quantity> {
    return this.#mean;
  }

  /** Whether anything was asked for since it was last aimed. */
  get isAny(): boolean {
    return this.#asked.requests > 0;
  }

  /** Whether so many requests have come since then that a share may be worth its reports. */
  get isBusy(): boolean {
    return this.#asked.requests >= busyRequests;
  }

  /** Whether so few came before it was last aimed that a share is not worth its reports. */
  get isSlow(): boolean {
    return this.#target.requests <= leastRequests;
  }

  /** Counts a request. */
  note(amount: Amount): void {
    addTo(this.#asked, 1, amount);
  }

  /** Begins to measure anew when the last request was too long ago to be of the same time. */
  restart(now: number, afterMs: number): void {
    if (now - this.#since < afterMs) return;
    this.#since = now;
    this.#asked = noQuantity();
  }

  /** Aims at what was asked for since the last time. It rises at once and falls by half. */
  aim(now: number): void {
    const factor = heldMs / Math.max(shortestMs, now - this.#since);
    const { requests } = this.#asked;
    for (const name of quantityNames) {
      if (requests > 0) this.#mean[name] = Math.ceil(this.#asked[name] / requests);
      const least = this.#mean[name] * leastRequests;
      const wanted = Math.max(this.#asked[name] * factor, this.#target[name] / 2, least);
      this.#target[name] = Math.min(most[name], Math.ceil(wanted));
    }
    this.#since = now;
    this.#asked = noQuantity();
  }
}

/** Nothing of anything. */
export function noQuantity(): Quantity {
  return { requests: 0, tokens: 0, cost: 0 };
}

/** Adds to a quantity in place. */
export function addTo(to: Quantity, requests: number, { tokens, cost }: Amount): void {
  to.requests += requests;
  to.tokens += tokens;
  to.cost += cost;
}
