import type { RateLimit } from './rate-limits.ts';

/** What a worker may take on. */
export interface Allowance {
  slots: number;
  accepting: boolean;
}

export interface PaceOptions {
  /** Jobs at once while no limit is near. */
  slots: number;
  /** Called whenever the allowance has changed. */
  onChange: (allowance: Allowance) => void;
}

/** Longest pause, in milliseconds: however long the provider wants to be left alone, it is tried again after this. */
const longestMs = 60_000;

/** Pause when the provider names none, in milliseconds, doubled with each further one in a row. */
const firstPauseMs = 1000;
const longestUnaskedMs = 30_000;

/** A limit of which less than this part is left narrows the worker. */
const nearlyExhausted = 0.1;

/**
 * How fast a worker may go. Two things slow it down:
 *
 * - a pause: the provider refused for now, so nothing is taken on until its time is over;
 * - a narrowing: what is left of a limit allows fewer jobs at once, or none, until the limit's window begins anew.
 *
 * States: `open` ⇄ `paused`, by `pause` and the pause's end; each with the narrowest of the limits that were heard of.
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
   * The provider has refused a request for now, or cannot be reached.
   * @param seconds how long it wants to be left alone, where it tells
   */
  pause(seconds: number | undefined): void {
    const now = performance.now();
    // Jobs that ran side by side are refused together: that is one refusal.
    if (now >= this.#pausedUntil) this.#refusals += 1;
    const unasked = Math.min(longestUnaskedMs, firstPauseMs * 2 ** (this.#refusals - 1));
    const ms = seconds === undefined ? unasked : Math.min(longestMs, seconds * 1000);
    this.#pausedUntil = Math.max(this.#pausedUntil, now + ms);
    this.#settle();
  }

  /** The provider has taken on a request: its next refusal is the first again. */
  accepted(): void {
    this.#refusals = 0;
  }

  /** The provider has told what is left of its limits. */
  heard(limits: readonly RateLimit[]): void {
    const now = performance.now();
    for (const limit of limits) {
      const slots = this.#allowedBy(limit);
      const until = now + Math.min(longestMs, limit.resetMs);
      if (slots < this.#options.slots) this.#narrowed.set(limit.name, { slots, until });
      else this.#narrowed.delete(limit.name);
    }
    this.#settle();
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

  /** Takes on what holds now, and comes back when the next of the limits is over. */
  #settle(): void {
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
    if (ends.length > 0) this.#timer = setTimeout(() => this.#settle(), Math.ceil(Math.min(...ends) - now));
    this.#become({ slots: Math.max(1, slots), accepting: !paused && slots > 0 });
  }

  #become(allowance: Allowance): void {
    const { slots, accepting } = this.#allowance;
    if (allowance.slots === slots && allowance.accepting === accepting) return;
    this.#allowance = allowance;
    this.#options.onChange(allowance);
  }
}
