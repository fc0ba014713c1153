/** Milliseconds over which claims are counted. Older claims count half. */
const windowMs = 20_000;

const unknownSeconds = 10;

/** Measures how fast a lane drains, by the claims that were granted while jobs waited in it. */
export class DrainRate {
  #since = 0;
  #claims = 0;

  /** Restarts the measurement when the first job comes into an empty lane, because an empty lane says nothing about its workers. */
  restart(now: number): void {
    this.#since = now;
    this.#claims = 0;
  }

  count(now: number): void {
    this.#forget(now);
    this.#claims += 1;
  }

  /**
   * Estimates the milliseconds until this many jobs are claimed. It counts one claim more than there were, so that a lane that has just
   * got jobs does not seem to be stalled.
   */
  waitMs(jobs: number, now: number): number {
    this.#forget(now);
    return (jobs * (now - this.#since)) / (this.#claims + 1);
  }

  #forget(now: number): void {
    while (now - this.#since > windowMs) {
      this.#since = (this.#since + now) / 2;
      this.#claims /= 2;
    }
  }
}

/** Converts an expected wait to whole seconds for `Retry-After`, between 1 and 30. */
export function computeRetryAfter(waitMs: number | undefined): number {
  return Math.min(30, Math.max(1, Math.ceil(waitMs === undefined ? unknownSeconds : waitMs / 1000)));
}
