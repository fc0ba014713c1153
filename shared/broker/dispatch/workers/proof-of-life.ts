/** Minimum milliseconds between two heartbeats for the second to prove that the worker was alive when the first came. */
const minIntervalMs = 500;

/**
 * Determines the last time at which a worker was certainly alive. A single heartbeat proves nothing, because a server that was blocked
 * delivers the earlier messages of a dead worker all at once. Two heartbeats with enough time between them prove that the worker was alive
 * when the first came.
 */
export class ProofOfLife {
  #provenAt = Number.NEGATIVE_INFINITY;
  #lastCountedAt = Number.NEGATIVE_INFINITY;

  /** The last time at which the worker was certainly alive, in milliseconds of `performance.now()`; up to two heartbeats behind. */
  get provenAt(): number {
    return this.#provenAt;
  }

  onHeartbeat(now: number): void {
    if (now - this.#lastCountedAt < minIntervalMs) return;
    this.#provenAt = this.#lastCountedAt;
    this.#lastCountedAt = now;
  }
}
