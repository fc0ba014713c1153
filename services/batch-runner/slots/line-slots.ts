import type { Dispatcher } from '#shared/broker/dispatch/dispatcher.ts';
import type { Job } from '#shared/broker/dispatch/job.ts';
import { countFreeSlots, type Placement } from '#shared/broker/dispatch/workers/live-pool.ts';
import type { LivePool } from '#shared/broker/dispatch/workers/live-worker.ts';
import { RouterError } from '#shared/core/errors.ts';

/** Milliseconds until a heartbeat shows, at the latest, that a live request has taken a slot. */
const unseenMs = 1_200;

/** The error of a line that is preempted by a live request. The line runs again later. */
export class PreemptedError extends RouterError {
  override name = 'PreemptedError';

  constructor() {
    super('overloaded', 'A live request waits for the slot of this line.');
  }
}

export interface LineSlotsParts {
  dispatcher: Pick<Dispatcher, 'dispatch' | 'cancel' | 'fail'>;
  /** Largest number of lines that run at once, in all pools. */
  maxLines: number;
  /** Milliseconds for which the slot of a preempted line is left to live requests. */
  yieldMs: number;
}

interface PoolUse {
  /** Number of lines that have a slot and are not dispatched yet. */
  starting: number;
  /** When lines were preempted, as times of `performance.now()`. */
  preemptedAt: number[];
  /** When live requests waited for a slot, as times of `performance.now()`. */
  demandedAt: number[];
}

/**
 * The slots that lines of batches may use: every free slot except those that live requests wait for. When a live request finds no free
 * slot, it preempts the line that began last. That slot is then left to live requests for a while, so that regular traffic does not
 * interrupt lines again and again. See docs/decisions/0026-lines-give-way.md.
 */
export class LineSlots {
  readonly #parts: LineSlotsParts;
  readonly #uses = new WeakMap<LivePool, PoolUse>();
  /** Callbacks that end the waits for a free slot. */
  readonly #waiting = new Set<() => void>();
  readonly #jobs = new Set<Job>();
  #starting = 0;
  preemptions = 0;

  constructor(parts: LineSlotsParts) {
    this.#parts = parts;
  }

  /** Number of requests of lines that are dispatched and not over. */
  get running(): number {
    return this.#jobs.size;
  }

  /** Dispatches the jobs of lines, and tracks them for preemption. */
  readonly dispatcher: Pick<Dispatcher, 'dispatch' | 'cancel' | 'fail'> = {
    dispatch: (request, body, sink) => {
      const job = this.#parts.dispatcher.dispatch(request, body, sink);
      this.#jobs.add(job);
      void job.finished.then(() => {
        this.#jobs.delete(job);
        this.notifyChange();
      });
      return job;
    },
    cancel: (job) => this.#parts.dispatcher.cancel(job),
    fail: (job, error) => this.#parts.dispatcher.fail(job, error),
  };

  /**
   * Reserves a slot for one line.
   * @param placements where the line may be served
   * @returns the function that ends the reservation, to be called once the line is dispatched or given up; undefined if no slot is free
   */
  reserve(placements: readonly Placement[], now = performance.now()): (() => void) | undefined {
    const placement = this.#findFree(placements, now);
    if (!placement) return undefined;
    const use = this.#getUse(placement.pool);
    use.starting += 1;
    this.#starting += 1;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      use.starting -= 1;
      this.#starting -= 1;
    };
  }

  /** Returns whether a line has a free slot in any of the placements. */
  hasRoom(placements: readonly Placement[], now = performance.now()): boolean {
    return this.#findFree(placements, now) !== undefined;
  }

  /**
   * Handles a live request that waits for a slot of a pool. Preempts a line if no slot is free.
   * @returns whether a slot is free for the request, or this runner has preempted a line for it
   */
  makeRoom(pool: LivePool, now = performance.now()): boolean {
    const use = this.#getUse(pool);
    use.demandedAt = filterRecent(use.demandedAt, now, unseenMs);
    use.demandedAt.push(now);
    if (countFreeSlots(pool) + pool.waiting >= use.demandedAt.length) return true;
    const last = this.#findLastJob(pool);
    if (!last) return false;
    use.preemptedAt.push(now);
    this.preemptions += 1;
    this.#parts.dispatcher.fail(last, new PreemptedError());
    return true;
  }

  /** Resolves on the next change of slots, after `ms` milliseconds, or when the signal aborts. */
  waitForChange(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        this.#waiting.delete(end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      signal.addEventListener('abort', end);
      this.#waiting.add(end);
      if (signal.aborted) end();
    });
  }

  /** Ends all waits for a change. Call it when workers have come or gone, or lines are over. */
  notifyChange(): void {
    for (const end of this.#waiting) end();
  }

  #findFree(placements: readonly Placement[], now: number): Placement | undefined {
    if (this.#jobs.size + this.#starting >= this.#parts.maxLines) return undefined;
    return placements.find(({ pool, model }) => this.#countFree(pool, model, now) > 0);
  }

  #countFree(pool: LivePool, model: string, now: number): number {
    const use = this.#getUse(pool);
    use.preemptedAt = filterRecent(use.preemptedAt, now, this.#parts.yieldMs);
    use.demandedAt = filterRecent(use.demandedAt, now, unseenMs);
    // A free slot is left to a live request that may be about to take it, because a line would occupy it for minutes.
    return countFreeSlots(pool, model) - use.starting - Math.max(use.preemptedAt.length, use.demandedAt.length);
  }

  /** Returns the job of the line that began last on a worker of the pool. */
  #findLastJob(pool: LivePool): Job | undefined {
    let last: Job | undefined;
    for (const job of this.#jobs) {
      if (job.isOver || job.attempt?.placement.pool !== pool) continue;
      if (!last || job.attempt.assignedAt > (last.attempt?.assignedAt ?? 0)) last = job;
    }
    return last;
  }

  #getUse(pool: LivePool): PoolUse {
    let use = this.#uses.get(pool);
    if (!use) this.#uses.set(pool, (use = { starting: 0, preemptedAt: [], demandedAt: [] }));
    return use;
  }
}

function filterRecent(times: readonly number[], now: number, ms: number): number[] {
  return times.filter((time) => now - time < ms);
}
