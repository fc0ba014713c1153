import { noWorkers } from '../workers/live-pool.ts';
import type { LivePool, LiveWorker } from '../workers/live-worker.ts';

/**
 * Milliseconds for which a job avoids a worker that failed on it, if other workers can serve the job. After that, the worker may have
 * recovered.
 */
const avoidMs = 5_000;

/**
 * Lists the workers that failed on one job, each for a few seconds, and counts the reported failures of each pool. Times are milliseconds
 * of `performance.now()`.
 */
export class FailedWorkers {
  readonly #avoidUntil = new Map<string, number>();
  readonly #failuresByPool = new Map<LivePool, number>();
  #workers = noWorkers;
  #nextExpiry = Number.POSITIVE_INFINITY;

  /**
   * Records a failure.
   * @param isReported whether the worker reported the failure; the worker's whole pool may then fail in the same way
   */
  add({ id, pool }: Pick<LiveWorker, 'id' | 'pool'>, isReported: boolean, now = performance.now()): void {
    this.#avoidUntil.set(id, now + avoidMs);
    if (isReported) this.#failuresByPool.set(pool, (this.#failuresByPool.get(pool) ?? 0) + 1);
    this.#refresh(now);
  }

  /** Returns the ids of the workers that the job must avoid now. */
  listWorkersToAvoid(now = performance.now()): ReadonlySet<string> {
    if (now >= this.#nextExpiry) this.#refresh(now);
    return this.#workers;
  }

  /** Counts the failures that workers of a pool have reported. */
  countFailures(pool: LivePool): number {
    return this.#failuresByPool.get(pool) ?? 0;
  }

  #refresh(now: number): void {
    for (const [id, until] of this.#avoidUntil) if (now >= until) this.#avoidUntil.delete(id);
    this.#workers = this.#avoidUntil.size === 0 ? noWorkers : new Set(this.#avoidUntil.keys());
    this.#nextExpiry = Math.min(...this.#avoidUntil.values());
  }
}
