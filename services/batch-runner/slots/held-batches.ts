import { isOver, stopOf } from '#shared/accounts/batches/batch-record.ts';
import type { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import type { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { sliceJob } from '#shared/background/batch-jobs.ts';
import type { Logger } from '#shared/core/log.ts';
import type { LinePlace } from '../lines/line-place.ts';
import { growingMs, varied } from './growing-delay.ts';
import type { LineSlots } from './line-slots.ts';
import type { WaitingWork } from './waiting-work.ts';

/** For how long a batch is held. */
const heldFor = { firstMs: 5_000, longestMs: 60_000 };

/** Milliseconds for which a slice waits in its place with no line running, and the same for one that tries again. */
const patienceMs = 5_000;
const triesForMs = 1_000;

/** Milliseconds between two looks whether workers have room for held batches. They cost no request to Redis. */
const lookMs = 500;

/** Milliseconds between two looks whether a held batch was cancelled, is over, or is not paused any more. */
const findMs = 5_000;

/** Milliseconds until another slice is called, if the one that was called has not come. */
const callMs = 5_000;

export interface HeldBatchesParts {
  work: Pick<BatchWork, 'find'>;
  jobs: Pick<BackgroundJobs, 'tryNow'>;
  slots: Pick<LineSlots, 'hasRoom'>;
  waitingWork: Pick<WaitingWork, 'note'>;
  /** Slices that this runner works on at once. */
  atOnce: number;
  log: Logger;
}

interface HeldBatch {
  /** How often it was held in a row; 0 while it is not. */
  times: number;
  /** Milliseconds after which one of those that are out would come by itself, at the earliest. */
  outMs: number;
  /** Whether its record says that no line of it is to be tried. */
  isBlocked: boolean;
  /** Until when no slice of it tries. */
  until: number;
  /** When one is called to try at the earliest. */
  callAt: number;
  /** The slice that has a place in order to try whether lines run again. */
  trying: number | undefined;
  /** Slices that this runner sent away, in the order in which they left. Their jobs are delayed, or another runner has them. */
  out: Set<number>;
  /** Where the line could be served that waited last; undefined if it did not wait for a worker. */
  place: (() => LinePlace) | undefined;
  foundAt: number;
}

/**
 * Keeps batches whose lines cannot run from holding the places of this runner, which others wait for. A slice of which nothing runs
 * leaves its place, and its batch is held: further slices of it leave at once. One at a time tries again, after five seconds and up to a
 * minute; as soon as a worker has room for what the last one waited for, they are all called back. A batch that is paused is held as well,
 * until its pause ends.
 *
 * Their jobs are delayed for two to four times as long, should this process die that would call them; those of a paused batch, of which
 * there may be hundreds, as if it were held for longest.
 */
export class HeldBatches {
  readonly #parts: HeldBatchesParts;
  readonly #held = new Map<string, HeldBatch>();
  readonly #timer: NodeJS.Timeout;

  constructor(parts: HeldBatchesParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => this.look(), lookMs);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** A slice begins. @returns milliseconds for which its job is to be delayed instead; undefined if it has a place */
  enter(batch: string, slice: number, now = performance.now()): number | undefined {
    const held = this.#held.get(batch);
    held?.out.delete(slice);
    if (!held || held.times === 0) return undefined;
    if (held.trying === undefined && now >= held.until) {
      held.trying = slice;
      return undefined;
    }
    held.out.add(slice);
    return outMs(held);
  }

  /** Milliseconds for which a slice keeps its place while no line of it runs and others wait for one. */
  patienceMs(batch: string, slice: number): number {
    return this.#held.get(batch)?.trying === slice ? triesForMs : patienceMs;
  }

  /** A line of a slice runs. */
  ran(batch: string, slice: number): void {
    const held = this.#held.get(batch);
    if (held?.trying === slice) this.#release(batch, held);
  }

  /**
   * A slice leaves its place.
   * @param place where the line could be served that waits; undefined if it does not wait for a worker
   * @returns milliseconds for which its job is to be delayed
   */
  leave(batch: string, slice: number, place: HeldBatch['place'], now = performance.now()): number {
    const held = this.#recordOf(batch, now);
    // Slices that waited at the same time leave together, which counts once.
    if (now >= held.until) {
      held.times += 1;
      held.outMs = growingMs(heldFor, held.times);
      held.until = now + varied(held.outMs);
      held.callAt = held.until;
      held.isBlocked = false;
    }
    held.place = place;
    held.out.add(slice);
    return outMs(held);
  }

  /**
   * A slice has found that no line of its batch is to be tried for so many milliseconds, as the record of the batch says.
   * @returns milliseconds for which its job is to be delayed
   */
  block(batch: string, slice: number, ms: number, now = performance.now()): number {
    const held = this.#recordOf(batch, now);
    held.times = Math.max(1, held.times);
    held.outMs = heldFor.longestMs;
    held.until = Math.max(held.until, now + ms);
    held.callAt = held.until;
    held.isBlocked = true;
    held.place = undefined;
    held.out.add(slice);
    return outMs(held);
  }

  /** A slice is not in its place any more. @param isOver whether all its lines have a result */
  left(batch: string, slice: number, isOver: boolean): void {
    const held = this.#held.get(batch);
    if (!held) return;
    const hasTried = held.trying === slice;
    if (hasTried) held.trying = undefined;
    if (!isOver) return;
    if (hasTried) this.#release(batch, held);
    else if (held.times === 0) this.#call(batch, held, 1);
  }

  /** Calls slices back that may run, and one of each batch that is to try. */
  look(now = performance.now()): void {
    for (const [batch, held] of this.#held) {
      if (now - held.foundAt >= findMs) {
        held.foundAt = now;
        void this.#find(batch, held);
      }
      if (held.times === 0 || held.trying !== undefined) this.#parts.waitingWork.note(held, []);
      else if (this.#hasRoom(held)) this.#release(batch, held);
      else if (now >= held.callAt) {
        held.callAt = now + callMs;
        this.#call(batch, held, 1);
      }
    }
  }

  #recordOf(batch: string, now: number): HeldBatch {
    let held = this.#held.get(batch);
    if (!held) {
      const free = { times: 0, outMs: 0, isBlocked: false, until: 0, callAt: 0, trying: undefined, place: undefined };
      held = { ...free, out: new Set(), foundAt: now };
      this.#held.set(batch, held);
    }
    return held;
  }

  #hasRoom(held: HeldBatch): boolean {
    if (!held.place) return false;
    const { slots, waitingWork } = this.#parts;
    try {
      const { placements, tiers } = held.place();
      waitingWork.note(held, tiers);
      return slots.hasRoom(placements);
    } catch {
      // The line ends with this error.
      return true;
    }
  }

  #release(batch: string, held: HeldBatch): void {
    held.times = 0;
    held.until = 0;
    held.isBlocked = false;
    held.place = undefined;
    this.#parts.waitingWork.note(held, []);
    this.#call(batch, held, this.#parts.atOnce);
  }

  /** Has so many slices begun now that are out, those first that have been for longest. Forgets a batch without any. */
  #call(batch: string, held: HeldBatch, most: number): void {
    const slices = [...held.out].slice(0, most);
    for (const slice of slices) {
      held.out.delete(slice);
      const { queue, id } = sliceJob(batch, slice, { ofOwner: 1 });
      this.#parts.jobs.tryNow({ queue, id }).catch((error: unknown) => {
        this.#parts.log.debug({ err: error, job: id }, 'a slice could not be called back before its time');
      });
    }
    if (slices.length === 0 && held.trying === undefined) this.#forget(batch, held);
  }

  async #find(batch: string, held: HeldBatch): Promise<void> {
    const found = await this.#parts.work.find(batch).catch(() => 'unknown' as const);
    if (found === 'unknown') return;
    if (!found || isOver(found)) this.#forget(batch, held);
    else if (stopOf(found) !== undefined || (held.isBlocked && found.blockedUntil === undefined))
      this.#release(batch, held);
  }

  #forget(batch: string, held: HeldBatch): void {
    this.#held.delete(batch);
    this.#parts.waitingWork.note(held, []);
  }
}

/** Milliseconds for which the job of a slice is delayed that is out. */
function outMs(held: HeldBatch): number {
  return Math.round(held.outMs * (2 + 2 * Math.random()));
}
