import type { Placement } from '#shared/broker/dispatch/workers/live-pool.ts';
import { RecentTimes } from './recent-times.ts';

/** The share of a name's requests that may be hedged. */
const budgetShare = 0.05;
/** Maximum hedges that a name can save up. */
const maxSaved = 10;

/** Maximum series of times, one for each pool and model. If there are more, the series that was added first is dropped. */
const maxSeries = 200;

/** The outcome of a hedge: its worker wrote first (`won`), or was too late or failed (`lost`). */
export type HedgeOutcome = 'won' | 'lost';

/** The shared state of hedged requests: how late first tokens are, and how many hedges are left. One object per process. */
export class Hedges {
  readonly counts: Record<HedgeOutcome, number> = { won: 0, lost: 0 };
  readonly #times = new Map<string, RecentTimes>();
  /** Hedges left, by registry name. */
  readonly #left = new Map<string, number>();

  /** Adds a request's share to the name's budget of hedges. */
  earn(name: string): void {
    this.#left.set(name, Math.min(maxSaved, (this.#left.get(name) ?? 0) + budgetShare));
  }

  /**
   * Uses one hedge of a name's budget.
   * @returns false if no hedge is left
   */
  spend(name: string): boolean {
    const left = this.#left.get(name) ?? 0;
    if (left < 1) return false;
    this.#left.set(name, left - 1);
    return true;
  }

  /** Counts the milliseconds from the grant of a job to its first token. */
  countFirstToken(placement: Placement, ms: number): void {
    const key = toSeriesKey(placement);
    let times = this.#times.get(key);
    if (!times) {
      times = new RecentTimes();
      this.#times.set(key, times);
      const [oldest] = this.#times.keys();
      if (this.#times.size > maxSeries && oldest !== undefined) this.#times.delete(oldest);
    }
    times.add(ms);
  }

  /** Returns the milliseconds after which a first token is later than 95 of 100 first tokens; undefined while too few times are known. */
  findLateMs(placement: Placement): number | undefined {
    return this.#times.get(toSeriesKey(placement))?.quantile(0.95);
  }
}

function toSeriesKey({ pool, model }: Placement): string {
  return `${pool.key}.${model}`;
}
