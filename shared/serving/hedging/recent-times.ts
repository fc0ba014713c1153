/** The number of times that are kept. */
const maxKept = 128;
/** Minimum number of times for a quantile. */
const minForQuantile = 20;

/** The last 128 of a series of times in milliseconds. */
export class RecentTimes {
  readonly #times: number[] = [];
  #next = 0;

  add(ms: number): void {
    this.#times[this.#next] = ms;
    this.#next = (this.#next + 1) % maxKept;
  }

  /** Returns a quantile of the kept times; undefined while there are fewer than 20. */
  quantile(share: number): number | undefined {
    if (this.#times.length < minForQuantile) return undefined;
    return this.#times.toSorted((a, b) => a - b)[Math.ceil(this.#times.length * share) - 1];
  }
}
