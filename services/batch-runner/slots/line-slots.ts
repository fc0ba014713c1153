import type { Dispatcher } from '#shared/broker/dispatch/dispatcher.ts';
import type { Job } from '#shared/broker/dispatch/job.ts';
import { freeSlots, type LivePool, type Placement } from '#shared/broker/dispatch/workers/live-pool.ts';
import { RouterError } from '#shared/core/errors.ts';

/** Milliseconds for which a heartbeat may not show a live request that has taken a slot. */
const unseenMs = 1_200;

/** The error of a line whose slot a live request gets: it is run again. */
export class GaveWayError extends RouterError {
  override name = 'GaveWayError';

  constructor() {
    super('overloaded', 'A live request waits for the slot of this line.');
  }
}

export interface LineSlotsParts {
  dispatcher: Pick<Dispatcher, 'dispatch' | 'cancel' | 'fail'>;
  /** Lines that run at once at most, in all pools. */
  most: number;
  /** Milliseconds for which a slot that a line gave way in is left to live requests. */
  yieldMs: number;
}

/** What is known of a pool besides its workers. */
interface PoolUse {
  /** Lines that have room and are not dispatched yet. */
  starting: number;
  /** When lines gave way, as times of `performance.now()`. */
  gaveWay: number[];
  /** When live requests waited for a slot. */
  demanded: number[];
}

/**
 * The slots that lines of batches take: as many as are free, and none that a live request waits for. Where a live request finds no
 * free slot, the line that began last gives way, and its slot is left to live requests for a while, so that regular traffic does not
 * interrupt lines again and again.
 * See docs/decisions/0026-lines-give-way.md.
 */
export class LineSlots {
  readonly #parts: LineSlotsParts;
  readonly #uses = new WeakMap<LivePool, PoolUse>();
  /** Ends the wait of each line that waits for room. */
  readonly #waiting = new Set<() => void>();
  /** Jobs of lines that are not over. */
  readonly #jobs = new Set<Job>();
  #starting = 0;
  /** Lines that gave way so far. */
  gaveWay = 0;

  constructor(parts: LineSlotsParts) {
    this.#parts = parts;
  }

  /** Requests of lines that are dispatched and not over. */
  get running(): number {
    return this.#jobs.size;
  }

  /** Dispatches the jobs of lines, and knows where each runs. */
  readonly dispatcher: Pick<Dispatcher, 'dispatch' | 'cancel' | 'fail'> = {
    dispatch: (request, body, sink) => {
      const job = this.#parts.dispatcher.dispatch(request, body, sink);
      this.#jobs.add(job);
      void job.finished.then(() => {
        this.#jobs.delete(job);
        this.changed();
      });
      return job;
    },
    cancel: (job) => this.#parts.dispatcher.cancel(job),
    fail: (job, error) => this.#parts.dispatcher.fail(job, error),
  };

  /**
   * Takes room for one line.
   * @param placements where the line may be served
   * @returns the call that gives it back, once the line is dispatched or will not be; undefined while there is no room
   */
  take(placements: readonly Placement[], now = performance.now()): (() => void) | undefined {
    const placement = this.#freeOf(placements, now);
    if (!placement) return undefined;
    const use = this.#useOf(placement.pool);
    use.starting += 1;
    this.#starting += 1;
    let isGiven = false;
    return () => {
      if (isGiven) return;
      isGiven = true;
      use.starting -= 1;
      this.#starting -= 1;
    };
  }

  /** Whether there is room for one line in any of the places. */
  hasRoom(placements: readonly Placement[], now = performance.now()): boolean {
    return this.#freeOf(placements, now) !== undefined;
  }

  /**
   * A live request waits for a slot of a pool.
   * @returns whether it needs nobody else's: a slot is free, or a line gives way
   */
  demand(pool: LivePool, now = performance.now()): boolean {
    const use = this.#useOf(pool);
    use.demanded = recent(use.demanded, now, unseenMs);
    use.demanded.push(now);
    if (freeSlots(pool) + pool.waiting >= use.demanded.length) return true;
    const last = this.#lastIn(pool);
    if (!last) return false;
    use.gaveWay.push(now);
    this.gaveWay += 1;
    this.#parts.dispatcher.fail(last, new GaveWayError());
    return true;
  }

  /** Resolves when there may be room, after so many milliseconds at the latest, and when the signal aborts. */
  nextChange(ms: number, signal: AbortSignal): Promise<void> {
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

  /** Workers have come or gone, or lines are over. */
  changed(): void {
    for (const end of this.#waiting) end();
  }

  /** The first of the places that has room. */
  #freeOf(placements: readonly Placement[], now: number): Placement | undefined {
    if (this.#jobs.size + this.#starting >= this.#parts.most) return undefined;
    return placements.find(({ pool, model }) => this.#room(pool, model, now) > 0);
  }

  #room(pool: LivePool, model: string, now: number): number {
    const use = this.#useOf(pool);
    use.gaveWay = recent(use.gaveWay, now, this.#parts.yieldMs);
    use.demanded = recent(use.demanded, now, unseenMs);
    // A slot that is free may be the one that a live request is about to take: a line that took it first would hold it for minutes.
    return freeSlots(pool, model) - use.starting - Math.max(use.gaveWay.length, use.demanded.length);
  }

  /** The job of a line that a worker of the pool began last. */
  #lastIn(pool: LivePool): Job | undefined {
    let last: Job | undefined;
    for (const job of this.#jobs) {
      if (job.isOver || job.attempt?.placement.pool !== pool) continue;
      if (!last || job.attempt.claimedAt > (last.attempt?.claimedAt ?? 0)) last = job;
    }
    return last;
  }

  #useOf(pool: LivePool): PoolUse {
    let use = this.#uses.get(pool);
    if (!use) this.#uses.set(pool, (use = { starting: 0, gaveWay: [], demanded: [] }));
    return use;
  }
}

/** The times that are not older than so many milliseconds. */
function recent(times: readonly number[], now: number, ms: number): number[] {
  return times.filter((time) => now - time < ms);
}
