/** Milliseconds over which claims are counted. Beyond it, half of what was counted is forgotten. */
const windowMs = 20_000;

/** Seconds to wait where no lane is known. */
const unknownSeconds = 10;

/** How fast a lane drains, by the claims that were granted while jobs waited in it. */
export class DrainRate {
  #since = 0;
  #claims = 0;

  /** A job waits, and none did before: an empty lane says nothing about its workers. */
  restart(now: number): void {
    this.#since = now;
    this.#claims = 0;
  }

  /** A claim was granted. */
  count(now: number): void {
    this.#forget(now);
    this.#claims += 1;
  }

  /**
   * Milliseconds until as many jobs are claimed. It counts one claim more than there were, so that a lane which jobs have just
   * come to does not look as if it stood still.
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

/** The expected wait as whole seconds for a client that is to come again, between 1 and 30. */
export function retryAfterOf(waitMs: number | undefined): number {
  return Math.min(30, Math.max(1, Math.ceil(waitMs === undefined ? unknownSeconds : waitMs / 1000)));
}
