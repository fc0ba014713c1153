/** Milliseconds in which what was counted loses half its weight. */
const halfLifeMs = 10_000;

/** Milliseconds without an outcome after which failures in a row begin to count anew. */
const streakMs = 30_000;

/**
 * How the recent jobs of one worker with one model went: a few numbers, whose weight halves every ten seconds. Times are
 * milliseconds of `performance.now()`.
 */
export class OutcomeAverage {
  #good = 0;
  #bad = 0;
  #firstTokens = 0;
  #firstTokenMs = 0;
  #streak = 0;
  #decayedAt = 0;
  #countedAt = 0;
  readonly #comparedAt = { failures: 0, firstTokens: 0 };
  /** The result of its last comparison: whether the worker fails where its peers do not. */
  standsOut = false;

  /** Counts a job that was served, or one that failed. */
  count(outcome: 'good' | 'bad', now: number): void {
    this.#decay(now);
    if (outcome === 'good') this.#good += 1;
    else this.#bad += 1;
    if (outcome === 'good') this.standsOut = false;
    const isRecent = now - this.#countedAt < streakMs;
    this.#streak = outcome === 'good' ? 0 : (isRecent ? this.#streak : 0) + 1;
    this.#countedAt = now;
  }

  /** Counts the milliseconds from a grant or offer to the first piece of a streamed answer. */
  countFirstToken(ms: number, now: number): void {
    this.#decay(now);
    this.#firstTokens += 1;
    this.#firstTokenMs += ms;
  }

  /** Whether the last comparison of its failures or first tokens with its peers' was so many milliseconds ago. Notes a new one. */
  isDue(what: 'failures' | 'firstTokens', now: number, ms: number): boolean {
    if (now - this.#comparedAt[what] < ms) return false;
    this.#comparedAt[what] = now;
    return true;
  }

  /** Takes back a failure that turned out to be the request's own. */
  takeBack(): void {
    this.#bad = Math.max(0, this.#bad - 1);
    this.#streak = Math.max(0, this.#streak - 1);
  }

  /** The worker has shown that it serves again: failures before that say nothing any more. */
  clearFailures(): void {
    this.#bad = 0;
    this.#streak = 0;
    this.standsOut = false;
  }

  /** Drops the times to the first token, so that those of a worker that was slow do not weigh on it once it is not. */
  clearFirstTokens(): void {
    this.#firstTokens = 0;
    this.#firstTokenMs = 0;
  }

  /** Failures since the last job that was served. */
  get streak(): number {
    return this.#streak;
  }

  /** How many recent jobs it counts, each with its present weight. */
  weight(now: number): number {
    this.#decay(now);
    return this.#good + this.#bad;
  }

  /** The share of recent jobs that failed, 0 to 1; 0 without jobs. */
  badShare(now: number): number {
    const weight = this.weight(now);
    return weight === 0 ? 0 : this.#bad / weight;
  }

  /** How many recent first tokens it counts, each with its present weight. */
  firstTokens(now: number): number {
    this.#decay(now);
    return this.#firstTokens;
  }

  /** Mean milliseconds to the first token of recent jobs; undefined without any. */
  get firstTokenMs(): number | undefined {
    return this.#firstTokens < 0.01 ? undefined : this.#firstTokenMs / this.#firstTokens;
  }

  #decay(now: number): void {
    const part = 0.5 ** ((now - this.#decayedAt) / halfLifeMs);
    this.#decayedAt = now;
    this.#good *= part;
    this.#bad *= part;
    this.#firstTokens *= part;
    this.#firstTokenMs *= part;
  }
}
