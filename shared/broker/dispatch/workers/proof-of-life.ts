/** Milliseconds between two heartbeats, of which the second shows that its worker lived when the first one came. */
const apartMs = 500;

/**
 * When a worker was certainly alive. A heartbeat alone does not show it: a server that stood still delivers what a dead worker had
 * sent before, all at once. Two heartbeats that come apart do.
 */
export class ProofOfLife {
  #provenAt = Number.NEGATIVE_INFINITY;
  #markedAt = Number.NEGATIVE_INFINITY;

  /** The last time at which it was alive, in milliseconds of `performance.now()`; behind by up to two heartbeats. */
  get provenAt(): number {
    return this.#provenAt;
  }

  /** Counts a heartbeat. */
  onHeartbeat(now: number): void {
    if (now - this.#markedAt < apartMs) return;
    this.#provenAt = this.#markedAt;
    this.#markedAt = now;
  }
}
