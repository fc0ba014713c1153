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
