import { isOver, stopOf } from '#shared/accounts/batches/batch-record.ts';
import type { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import type { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { sliceJob } from '#shared/background/batch-jobs.ts';
import type { Logger } from '#shared/core/log.ts';
import type { LinePlace } from '../lines/line-place.ts';
import { growingMs, varied } from './growing-delay.ts';
import type { LineSlots } from './line-slots.ts';
import type { WaitingWork } from './waiting-work.ts';

/** For how long a batch is parked. */
const parkedFor = { firstMs: 5_000, longestMs: 60_000 };

/** Milliseconds for which a slice waits in its seat with no line running, and the same for one that tries again. */
const patienceMs = 5_000;
const triesForMs = 1_000;

/** Milliseconds between two looks whether workers have room for parked batches. They cost no request to Redis. */
const lookMs = 500;

/** Milliseconds between two looks whether a parked batch was cancelled, is over, or is not paused any more. */
const findMs = 5_000;

/** Milliseconds until another slice is recalled, if the one that was recalled has not come. */
const recallMs = 5_000;

export interface ParkedBatchesParts {
  work: Pick<BatchWork, 'find'>;
  jobs: Pick<BackgroundJobs, 'tryNow'>;
  slots: Pick<LineSlots, 'hasRoom'>;
  waitingWork: Pick<WaitingWork, 'note'>;
  /** Slices that this runner works on at once. */
  atOnce: number;
  log: Logger;
}

interface ParkedBatch {
  /** How often it was parked in a row; 0 while it is not. */
  times: number;
  /** Milliseconds after which one of those that are out would come by itself, at the earliest. */
  outMs: number;
  /** Whether its record says that no line of it is to be tried. */
  isBlocked: boolean;
  /** Until when no slice of it tries. */
  until: number;
  /** When one is recalled to try at the earliest. */
  recallAt: number;
  /** The slice that has a seat in order to try whether lines run again. */
  trying: number | undefined;
  /** Slices that this runner sent away, in the order in which they left. Their jobs are delayed, or another runner has them. */
  out: Set<number>;
  /** Where the line could be served that waited last; undefined if it did not wait for a worker. */
  place: (() => LinePlace) | undefined;
  foundAt: number;
}

/**
 * Keeps batches whose lines cannot run from taking the seats of this runner, which others wait for. A slice of which nothing runs
 * leaves its seat, and its batch is parked: further slices of it leave at once. One at a time tries again, after five seconds and up to a
 * minute; as soon as a worker has room for what the last one waited for, they are all recalled. A batch that is paused is parked as well,
 * until its pause ends.
 *
 * Their jobs are delayed for two to four times as long, should this process die that would call them; those of a paused batch, of which
 * there may be hundreds, as if it were parked for longest.
 */
export class ParkedBatches {
  readonly #parts: ParkedBatchesParts;
  readonly #parked = new Map<string, ParkedBatch>();
  readonly #timer: NodeJS.Timeout;

  constructor(parts: ParkedBatchesParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => this.look(), lookMs);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** A slice begins. @returns milliseconds for which its job is to be delayed instead; undefined if it has a seat */
  enter(batch: string, slice: number, now = performance.now()): number | undefined {
    const parked = this.#parked.get(batch);
    parked?.out.delete(slice);
    if (!parked || parked.times === 0) return undefined;
    if (parked.trying === undefined && now >= parked.until) {
      parked.trying = slice;
      return undefined;
    }
    parked.out.add(slice);
    return outMs(parked);
  }

  /** Milliseconds for which a slice keeps its seat while no line of it runs and others wait for one. */
  patienceMs(batch: string, slice: number): number {
    return this.#parked.get(batch)?.trying === slice ? triesForMs : patienceMs;
  }

  /** A line of a slice runs. */
  ran(batch: string, slice: number): void {
    const parked = this.#parked.get(batch);
    if (parked?.trying === slice) this.#release(batch, parked);
  }

  /**
   * A slice leaves its seat.
   * @param place where the line could be served that waits; undefined if it does not wait for a worker
   * @returns milliseconds for which its job is to be delayed
   */
  park(batch: string, slice: number, place: ParkedBatch['place'], now = performance.now()): number {
    const parked = this.#recordOf(batch, now);
    // Slices that waited at the same time leave together, which counts once.
    if (now >= parked.until) {
      parked.times += 1;
      parked.outMs = growingMs(parkedFor, parked.times);
      parked.until = now + varied(parked.outMs);
      parked.recallAt = parked.until;
      parked.isBlocked = false;
    }
    parked.place = place;
    parked.out.add(slice);
    return outMs(parked);
  }

  /**
   * A slice has found that no line of its batch is to be tried for so many milliseconds, as the record of the batch says.
   * @returns milliseconds for which its job is to be delayed
   */
  block(batch: string, slice: number, ms: number, now = performance.now()): number {
    const parked = this.#recordOf(batch, now);
    parked.times = Math.max(1, parked.times);
    parked.outMs = parkedFor.longestMs;
    parked.until = Math.max(parked.until, now + ms);
    parked.recallAt = parked.until;
    parked.isBlocked = true;
    parked.place = undefined;
    parked.out.add(slice);
    return outMs(parked);
  }

  /** A slice is not in its seat any more. @param isOver whether all its lines have a result */
  left(batch: string, slice: number, isOver: boolean): void {
    const parked = this.#parked.get(batch);
    if (!parked) return;
    const hasTried = parked.trying === slice;
    if (hasTried) parked.trying = undefined;
    if (!isOver) return;
    if (hasTried) this.#release(batch, parked);
    else if (parked.times === 0) this.#recall(batch, parked, 1);
  }

  /** Recalls slices that may run, and one of each batch that is to try. */
  look(now = performance.now()): void {
    for (const [batch, parked] of this.#parked) {
      if (now - parked.foundAt >= findMs) {
        parked.foundAt = now;
        void this.#find(batch, parked);
      }
      if (parked.times === 0 || parked.trying !== undefined) this.#parts.waitingWork.note(parked, []);
      else if (this.#hasRoom(parked)) this.#release(batch, parked);
      else if (now >= parked.recallAt) {
        parked.recallAt = now + recallMs;
        this.#recall(batch, parked, 1);
      }
    }
  }

  #recordOf(batch: string, now: number): ParkedBatch {
    let parked = this.#parked.get(batch);
    if (!parked) {
      const free = { times: 0, outMs: 0, isBlocked: false, until: 0, recallAt: 0, trying: undefined, place: undefined };
      parked = { ...free, out: new Set(), foundAt: now };
      this.#parked.set(batch, parked);
    }
    return parked;
  }

  #hasRoom(parked: ParkedBatch): boolean {
    if (!parked.place) return false;
    const { slots, waitingWork } = this.#parts;
    try {
      const { placements, tiers } = parked.place();
      waitingWork.note(parked, tiers);
      return slots.hasRoom(placements);
    } catch {
      // The line ends with this error.
      return true;
    }
  }

  #release(batch: string, parked: ParkedBatch): void {
    parked.times = 0;
    parked.until = 0;
    parked.isBlocked = false;
    parked.place = undefined;
    this.#parts.waitingWork.note(parked, []);
    this.#recall(batch, parked, this.#parts.atOnce);
  }

  /** Has so many slices begun now that are out, those first that have been for longest. Forgets a batch without any. */
  #recall(batch: string, parked: ParkedBatch, most: number): void {
    const slices = [...parked.out].slice(0, most);
    for (const slice of slices) {
      parked.out.delete(slice);
      const { queue, id } = sliceJob(batch, slice, { ofOwner: 1 });
      this.#parts.jobs.tryNow({ queue, id }).catch((error: unknown) => {
        this.#parts.log.debug({ err: error, job: id }, 'a slice could not be recalled before its time');
      });
    }
    if (slices.length === 0 && parked.trying === undefined) this.#forget(batch, parked);
  }

  async #find(batch: string, parked: ParkedBatch): Promise<void> {
    const found = await this.#parts.work.find(batch).catch(() => 'unknown' as const);
    if (found === 'unknown') return;
    if (!found || isOver(found)) this.#forget(batch, parked);
    else if (stopOf(found) !== undefined || (parked.isBlocked && found.blockedUntil === undefined))
      this.#release(batch, parked);
  }

  #forget(batch: string, parked: ParkedBatch): void {
    this.#parked.delete(batch);
    this.#parts.waitingWork.note(parked, []);
  }
}

/** Milliseconds for which the job of a slice is delayed that is out. */
function outMs(parked: ParkedBatch): number {
  return Math.round(parked.outMs * (2 + 2 * Math.random()));
}
