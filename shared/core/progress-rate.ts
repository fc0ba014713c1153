/** Milliseconds of the window over which the rate is measured. */
const windowMs = 60_000;

/** Measures how fast something progresses: over the last minute or, while the first sample is more recent, since that sample. */
export class ProgressRate {
  #samples: { at: number; done: number }[] = [];

  /** @param beganAt a time at which nothing was done yet, in milliseconds since 1970. With it, a single sample is enough for a rate */
  constructor(beganAt?: number) {
    if (beganAt !== undefined) this.addSample(0, beganAt);
  }

  /**
   * Adds a sample of the amount done.
   * @param at milliseconds since 1970
   */
  addSample(done: number, at = Date.now()): void {
    const last = this.#samples.at(-1);
    // The clock may be set back, and the counter may restart.
    if (last && (at < last.at || done < last.done)) this.#samples = [];
    else if (last?.at === at) this.#samples.pop();
    this.#samples.push({ at, done });
    const lastOutside = this.#samples.findLastIndex((sample) => sample.at <= at - windowMs);
    if (lastOutside > 0) this.#samples.splice(0, lastOutside);
  }

  /** The amount done per second; undefined before the second sample. */
  get perSecond(): number | undefined {
    const [first] = this.#samples;
    const last = this.#samples.at(-1);
    if (!first || !last || last.at === first.at) return undefined;
    return ((last.done - first.done) * 1_000) / (last.at - first.at);
  }

  /** The rate as `1,200 a second`, `3 a minute`, `5 an hour`; undefined without progress. */
  get text(): string | undefined {
    const rate = this.perSecond;
    if (rate === undefined || rate <= 0) return undefined;
    const [amount, unit] =
      rate >= 1 ? [rate, 'a second'] : rate >= 1 / 60 ? [rate * 60, 'a minute'] : [rate * 3_600, 'an hour'];
    return `${amount.toLocaleString('en', { maximumFractionDigits: 0 })} ${unit}`;
  }

  /** Estimates when everything is done, in milliseconds since 1970; undefined without progress. */
  estimateEnd(total: number): number | undefined {
    const rate = this.perSecond;
    const last = this.#samples.at(-1);
    if (!last || rate === undefined || rate <= 0) return undefined;
    return last.at + (Math.max(0, total - last.done) * 1_000) / rate;
  }
}
