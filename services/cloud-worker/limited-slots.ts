import type { RateLimit } from './rate-limits.ts';

/** The number of jobs that the provider's limits allow. */
export interface Allowance {
  slots: number;
  accepting: boolean;
  /**
   * When the limit ends, in ms since 1970; undefined while the worker takes jobs. If the limit lasts long, the worker takes jobs again
   * earlier, to try it.
   */
  resumesAt?: number | undefined;
}

export interface LimitedSlotsOptions {
  /** Number of concurrent jobs while no limit is nearly exhausted. */
  slots: number;
  onChange: (allowance: Allowance) => void;
}

/** Milliseconds after which a limit no longer reduces the slots, even if its window is longer. */
const maxWindowMs = 60_000;

/** The worker takes fewer jobs when a smaller part of a limit than this remains. */
const nearlyExhausted = 0.1;

/**
 * Reduces a worker's slots by the rate limits that the provider reports. While a limit is nearly exhausted, there are fewer slots or none,
 * until its window resets. The strictest reported limit applies.
 */
export class LimitedSlots {
  readonly #options: LimitedSlotsOptions;
  readonly #narrowed = new Map<string, { slots: number; until: number; resetsAt: number }>();
  #allowance: Allowance;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LimitedSlotsOptions) {
    this.#options = options;
    this.#allowance = { slots: options.slots, accepting: true };
  }

  get allowance(): Allowance {
    return this.#allowance;
  }

  update(limits: readonly RateLimit[]): void {
    const now = performance.now();
    for (const limit of limits) {
      const slots = this.#allowedBy(limit);
      const until = now + Math.min(maxWindowMs, limit.resetMs);
      const resetsAt = now + limit.resetMs;
      if (slots < this.#options.slots) this.#narrowed.set(limit.name, { slots, until, resetsAt });
      else this.#narrowed.delete(limit.name);
    }
    this.#apply();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #allowedBy({ of, limit, remaining }: RateLimit): number {
    if (remaining === 0) return 0;
    const { slots } = this.#options;
    const part = limit === undefined || limit === 0 ? 1 : remaining / limit;
    const share = part >= nearlyExhausted ? slots : Math.max(1, Math.floor((slots * part) / nearlyExhausted));
    return of === 'requests' ? Math.min(share, remaining) : share;
  }

  /** Applies the current limits, and sets a timer for the end of the first one. */
  #apply(): void {
    clearTimeout(this.#timer);
    const now = performance.now();
    const ends: number[] = [];
    let closedUntil = now;
    let { slots } = this.#options;
    for (const [name, narrowed] of this.#narrowed) {
      if (narrowed.until <= now) this.#narrowed.delete(name);
      else {
        slots = Math.min(slots, narrowed.slots);
        ends.push(narrowed.until);
        if (narrowed.slots === 0) closedUntil = Math.max(closedUntil, narrowed.resetsAt);
      }
    }
    if (ends.length > 0) this.#timer = setTimeout(() => this.#apply(), Math.ceil(Math.min(...ends) - now));
    const resumesAt = slots > 0 ? undefined : Date.now() + Math.ceil(closedUntil - now);
    this.#become({ slots: Math.max(1, slots), accepting: slots > 0, ...(resumesAt !== undefined && { resumesAt }) });
  }

  #become(allowance: Allowance): void {
    const { slots, accepting } = this.#allowance;
    if (allowance.slots === slots && allowance.accepting === accepting) return;
    this.#allowance = allowance;
    this.#options.onChange(allowance);
  }
}
