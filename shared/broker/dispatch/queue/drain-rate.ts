/** Milliseconds over which claims are counted. After this time, the number of claims and the measured time are halved. */
const windowMs = 20_000;

/** Seconds for `Retry-After` if the expected wait is unknown. */
const unknownWaitSeconds = 10;

/** Measures how fast the jobs of a lane are claimed while jobs wait in the lane. */
export class DrainRate {
  #since = 0;
  #claims = 0;

  /**
   * Restarts the measurement. Call it when a job enters an empty lane, because an empty lane says nothing about the speed of its workers.
   */
  restart(now: number): void {
    this.#since = now;
    this.#claims = 0;
  }

  countClaim(now: number): void {
    this.#decay(now);
    this.#claims += 1;
  }

  /**
   * Estimates the milliseconds until this many jobs are claimed. The estimate adds one to the counted claims. Otherwise a lane that has
   * just received its first jobs would seem to stand still.
   */
  estimateWaitMs(jobs: number, now: number): number {
    this.#decay(now);
    return (jobs * (now - this.#since)) / (this.#claims + 1);
  }

  #decay(now: number): void {
    while (now - this.#since > windowMs) {
      this.#since = (this.#since + now) / 2;
      this.#claims /= 2;
    }
  }
}

/** Converts an expected wait to whole seconds for `Retry-After`, between 1 and 30. */
export function computeRetryAfter(waitMs: number | undefined): number {
  return Math.min(30, Math.max(1, Math.ceil(waitMs === undefined ? unknownWaitSeconds : waitMs / 1000)));
}
