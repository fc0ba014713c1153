import type { Placement } from '#shared/broker/dispatch/workers/live-pool.ts';

/** The share of a name's requests that may be hedged. */
const budgetShare = 0.05;
/** Maximum hedges that a name can save up. */
const maxSaved = 10;

/** Maximum number of series of times. Each pool and model has one series. Above the maximum, the oldest series is dropped. */
const maxSeries = 200;

/** The outcome of a hedge: its worker served the request (`won`), or was too late or failed (`lost`). */
export type HedgeOutcome = 'won' | 'lost';

/** The shared state of hedged requests: the times of first tokens, and the hedges that are left. One object per process. */
export class Hedges {
  readonly counts: Record<HedgeOutcome, number> = { won: 0, lost: 0 };
  readonly #timesBySeries = new Map<string, RecentTimes>();
  /** Hedges left, by registry name. */
  readonly #hedgesLeft = new Map<string, number>();

  /** Adds a request's share to the name's budget of hedges. */
  earn(name: string): void {
    this.#hedgesLeft.set(name, Math.min(maxSaved, (this.#hedgesLeft.get(name) ?? 0) + budgetShare));
  }

  /**
   * Uses one hedge of a name's budget.
   * @returns false if no hedge is left
   */
  spend(name: string): boolean {
    const left = this.#hedgesLeft.get(name) ?? 0;
    if (left < 1) return false;
    this.#hedgesLeft.set(name, left - 1);
    return true;
  }

  /** Counts the milliseconds from the grant of a job to its first token. */
  countFirstToken(placement: Placement, ms: number): void {
    const key = toSeriesKey(placement);
    let times = this.#timesBySeries.get(key);
    if (!times) {
      times = new RecentTimes();
      this.#timesBySeries.set(key, times);
      const [oldest] = this.#timesBySeries.keys();
      if (this.#timesBySeries.size > maxSeries && oldest !== undefined) this.#timesBySeries.delete(oldest);
    }
    times.add(ms);
  }

  /** Returns the 95th percentile of the milliseconds to the first token; undefined while too few times are known. */
  findLateMs(placement: Placement): number | undefined {
    return this.#timesBySeries.get(toSeriesKey(placement))?.computeQuantile(0.95);
  }
}

function toSeriesKey({ pool, model }: Placement): string {
  return `${pool.key}.${model}`;
}

/** Maximum number of kept times. */
const maxKept = 128;
/** Minimum number of times for a quantile. */
const minForQuantile = 20;

/** Keeps the last 128 times of a series, in milliseconds. */
export class RecentTimes {
  readonly #times: number[] = [];
  #next = 0;

  add(ms: number): void {
    this.#times[this.#next] = ms;
    this.#next = (this.#next + 1) % maxKept;
  }

  /** Returns a quantile of the kept times; undefined while there are fewer than 20. */
  computeQuantile(share: number): number | undefined {
    if (this.#times.length < minForQuantile) return undefined;
    return this.#times.toSorted((a, b) => a - b)[Math.ceil(this.#times.length * share) - 1];
  }
}
