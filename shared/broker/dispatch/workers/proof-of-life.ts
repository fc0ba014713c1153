/** Minimum milliseconds between two heartbeats for the second to prove that the worker was alive at the first. */
const apartMs = 500;

/**
 * Computes when a worker was certainly alive. A single heartbeat does not prove it, because a server that was blocked delivers a dead
 * worker's earlier messages all at once. Two heartbeats with enough time between them prove it.
 */
export class ProofOfLife {
  #provenAt = Number.NEGATIVE_INFINITY;
  #markedAt = Number.NEGATIVE_INFINITY;

  /** The last time at which the worker was certainly alive, in milliseconds of `performance.now()`; up to two heartbeats behind. */
  get provenAt(): number {
    return this.#provenAt;
  }

  onHeartbeat(now: number): void {
    if (now - this.#markedAt < apartMs) return;
    this.#provenAt = this.#markedAt;
    this.#markedAt = now;
  }
}
