import type { RateLimit } from './rate-limits.ts';

/** The jobs that a worker may take. */
export interface Allowance {
  slots: number;
  accepting: boolean;
}

export interface PaceOptions {
  /** Jobs at once while no limit is near. */
  slots: number;
  /** Called when the allowance changes. */
  onChange: (allowance: Allowance) => void;
}

/** Maximum pause in milliseconds; afterwards the provider is tried again, even if it asked for a longer one. */
const maxPauseMs = 60_000;

/** First and maximum pause in milliseconds if the provider names none; doubled with each further refusal in a row. */
const firstPauseMs = 1000;
const maxDefaultPauseMs = 30_000;

/** Share of a limit below which the worker takes fewer jobs. */
const nearlyExhausted = 0.1;

/**
 * The pace of a worker. Two things slow it down:
 *
 * - a pause, after the provider refused a request for now: no jobs until the pause ends;
 * - a nearly exhausted rate limit: fewer jobs at once, or none, until the limit's window resets.
 *
 * States: `open` ⇄ `paused`, by `pause` and the end of the pause; in both, the strictest of the reported limits applies.
 */
export class Pace {
  readonly #options: PaceOptions;
  readonly #narrowed = new Map<string, { slots: number; until: number }>();
  #pausedUntil = 0;
  #refusals = 0;
  #allowance: Allowance;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: PaceOptions) {
    this.#options = options;
    this.#allowance = { slots: options.slots, accepting: true };
  }

  get allowance(): Allowance {
    return this.#allowance;
  }

  /**
   * Called when the provider refuses a request for now, or cannot be reached.
   * @param seconds the pause that it asks for, if any
   */
  pause(seconds: number | undefined): void {
    const now = performance.now();
    // Jobs that ran at the same time are refused together, which counts as one refusal.
    if (now >= this.#pausedUntil) this.#refusals += 1;
    const byDefault = Math.min(maxDefaultPauseMs, firstPauseMs * 2 ** (this.#refusals - 1));
    const ms = seconds === undefined ? byDefault : Math.min(maxPauseMs, seconds * 1000);
    this.#pausedUntil = Math.max(this.#pausedUntil, now + ms);
    this.#apply();
  }

  /** Called when the provider accepts a request, which ends a row of refusals. */
  accepted(): void {
    this.#refusals = 0;
  }

  /** Called with the limits that an answer of the provider reports. */
  update(limits: readonly RateLimit[]): void {
    const now = performance.now();
    for (const limit of limits) {
      const slots = this.#allowedBy(limit);
      const until = now + Math.min(maxPauseMs, limit.resetMs);
      if (slots < this.#options.slots) this.#narrowed.set(limit.name, { slots, until });
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

  /** Applies the current pause and limits, and sets a timer for the first of them to end. */
  #apply(): void {
    clearTimeout(this.#timer);
    const now = performance.now();
    const ends: number[] = [];
    let { slots } = this.#options;
    for (const [name, narrowed] of this.#narrowed) {
      if (narrowed.until <= now) this.#narrowed.delete(name);
      else {
        slots = Math.min(slots, narrowed.slots);
        ends.push(narrowed.until);
      }
    }
    const paused = this.#pausedUntil > now;
    if (paused) ends.push(this.#pausedUntil);
    if (ends.length > 0) this.#timer = setTimeout(() => this.#apply(), Math.ceil(Math.min(...ends) - now));
    this.#become({ slots: Math.max(1, slots), accepting: !paused && slots > 0 });
  }

  #become(allowance: Allowance): void {
    const { slots, accepting } = this.#allowance;
    if (allowance.slots === slots && allowance.accepting === accepting) return;
    this.#allowance = allowance;
    this.#options.onChange(allowance);
  }
}
