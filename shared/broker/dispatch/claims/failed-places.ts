import { noWorkers, type LivePool, type LiveWorker } from '../workers/live-pool.ts';

/**
 * Milliseconds for which a job avoids a worker that failed on it, if other workers can serve it. After that, the worker may have recovered.
 */
const avoidMs = 5_000;

/**
 * Remembers the workers that failed on one job, each for a few seconds, and counts the failures by pool. Times are milliseconds of
 * `performance.now()`.
 */
export class FailedWorkers {
  readonly #until = new Map<string, number>();
  readonly #pools = new Map<LivePool, number>();
  #workers = noWorkers;
  #nextEnd = Number.POSITIVE_INFINITY;

  /**
   * Records a failure.
   * @param hasAnswered whether the worker reported the failure, which its whole pool may share
   */
  add({ id, pool }: Pick<LiveWorker, 'id' | 'pool'>, hasAnswered: boolean, now = performance.now()): void {
    this.#until.set(id, now + avoidMs);
    if (hasAnswered) this.#pools.set(pool, (this.#pools.get(pool) ?? 0) + 1);
    this.#look(now);
  }

  workers(now = performance.now()): ReadonlySet<string> {
    if (now >= this.#nextEnd) this.#look(now);
    return this.#workers;
  }

  failuresOf(pool: LivePool): number {
    return this.#pools.get(pool) ?? 0;
  }

  #look(now: number): void {
    for (const [id, until] of this.#until) if (now >= until) this.#until.delete(id);
    this.#workers = this.#until.size === 0 ? noWorkers : new Set(this.#until.keys());
    this.#nextEnd = Math.min(...this.#until.values());
  }
}
