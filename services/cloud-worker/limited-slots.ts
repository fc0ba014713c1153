import type { RateLimit } from './rate-limits.ts';

/** The number of jobs that the provider's limits allow. */
export interface Allowance {
  slots: number;
  accepting: boolean;
  /**
   * When the limit ends, in ms since 1970; undefined while the worker takes jobs. If that is more than a minute away, the worker
   * already takes jobs again after a minute, to see whether the limit still applies.
   */
  resumesAt?: number | undefined;
}

/** Milliseconds after which a limit no longer reduces the slots, even if its window is longer. */
const maxWindowMs = 60_000;

/** Minimum milliseconds between two ends of a limit that count as different. Answers that name one end differ by less. */
const minEndChangeMs = 1000;

/** The worker takes fewer jobs when a smaller part of a limit than this remains. */
const nearlyExhausted = 0.1;

/**
 * Reduces a worker's slots by the rate limits that the provider reports. While a limit is nearly exhausted, the worker has fewer slots or
 * none, until the limit's window resets. The strictest reported limit applies.
 */
export class LimitedSlots {
  readonly #slots: number;
  readonly #onChange: (allowance: Allowance) => void;
  readonly #slotsByLimit = new Map<string, { slots: number; until: number; resetsAt: number }>();
  #allowance: Allowance;
  #timer: NodeJS.Timeout | undefined;

  /** @param slots the number of concurrent jobs while no limit is nearly exhausted */
  constructor(slots: number, onChange: (allowance: Allowance) => void) {
    this.#slots = slots;
    this.#onChange = onChange;
    this.#allowance = { slots, accepting: true };
  }

  get allowance(): Allowance {
    return this.#allowance;
  }

  applyLimits(limits: readonly RateLimit[]): void {
    const now = performance.now();
    for (const limit of limits) {
      const slots = this.#computeSlots(limit);
      const until = now + Math.min(maxWindowMs, limit.resetMs);
      const resetsAt = now + limit.resetMs;
      if (slots < this.#slots) this.#slotsByLimit.set(limit.name, { slots, until, resetsAt });
      else this.#slotsByLimit.delete(limit.name);
    }
    this.#applyCurrent();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #computeSlots({ unit, limit, remaining }: RateLimit): number {
    if (remaining === 0) return 0;
    const slots = this.#slots;
    const remainingPart = limit === undefined || limit === 0 ? 1 : remaining / limit;
    const reducedSlots =
      remainingPart >= nearlyExhausted ? slots : Math.max(1, Math.floor((slots * remainingPart) / nearlyExhausted));
    return unit === 'requests' ? Math.min(reducedSlots, remaining) : reducedSlots;
  }

  /** Applies the current limits, and sets a timer for the limit that ends first. */
  #applyCurrent(): void {
    clearTimeout(this.#timer);
    const now = performance.now();
    const ends: number[] = [];
    let closedUntil = now;
    let slots = this.#slots;
    for (const [name, reduction] of this.#slotsByLimit) {
      if (reduction.until <= now) this.#slotsByLimit.delete(name);
      else {
        slots = Math.min(slots, reduction.slots);
        ends.push(reduction.until);
        if (reduction.slots === 0) closedUntil = Math.max(closedUntil, reduction.resetsAt);
      }
    }
    if (ends.length > 0) this.#timer = setTimeout(() => this.#applyCurrent(), Math.ceil(Math.min(...ends) - now));
    const resumesAt = slots > 0 ? undefined : Date.now() + Math.ceil(closedUntil - now);
    this.#setAllowance({
      slots: Math.max(1, slots),
      accepting: slots > 0,
      ...(resumesAt !== undefined && { resumesAt }),
    });
  }

  #setAllowance(allowance: Allowance): void {
    const { slots, accepting, resumesAt = 0 } = this.#allowance;
    const hasSameEnd = Math.abs((allowance.resumesAt ?? 0) - resumesAt) < minEndChangeMs;
    if (allowance.slots === slots && allowance.accepting === accepting && hasSameEnd) return;
    this.#allowance = allowance;
    this.#onChange(allowance);
  }
}
