import { isOver, stopReason } from '#shared/accounts/batches/batch-record.ts';
import type { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import type { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { createSliceJob } from '#shared/background/batch-jobs.ts';
import type { Logger } from '#shared/core/log.ts';
import type { LinePlace } from '../lines/line-place.ts';
import { backoffMs, withJitter } from './backoff.ts';
import type { LineSlots } from './line-slots.ts';
import type { WaitingWork } from './waiting-work.ts';

/** How long a batch is parked. The time grows with each parking. */
const parkedFor = { firstMs: 5_000, longestMs: 60_000 };

/** Milliseconds for which a slice without a running line keeps its slice slot. */
const idleSlotMs = 5_000;
/** Milliseconds for which a slice of a parked batch that tries again keeps its slice slot. */
const triesForMs = 1_000;

/** Milliseconds between two checks whether workers have room for parked batches. A check costs no request to Redis. */
const lookMs = 500;

/** Milliseconds between two reads of a parked batch's record, to see whether it was cancelled, is over, or is no longer paused. */
const findMs = 5_000;

/** Milliseconds until another slice is recalled if the first one has not begun. */
const recallMs = 5_000;

export interface ParkedBatchesParts {
  work: Pick<BatchWork, 'find'>;
  jobs: Pick<BackgroundJobs, 'tryNow'>;
  slots: Pick<LineSlots, 'hasRoom'>;
  waitingWork: Pick<WaitingWork, 'note'>;
  /** Number of slices that this runner processes at once. */
  atOnce: number;
  log: Logger;
}

interface ParkedBatch {
  /** How often the batch was parked in a row; 0 while it is not parked. */
  times: number;
  /** Milliseconds after which a delayed job of the batch starts by itself, at the earliest. */
  outMs: number;
  /** Whether the batch's record pauses all its lines. */
  isBlocked: boolean;
  /** Until when no slice of the batch tries, as a time of `performance.now()`. */
  until: number;
  /** Earliest time at which a slice is recalled to try. */
  recallAt: number;
  /** The slice that has a slice slot to try whether lines run again. */
  trying: number | undefined;
  /** Slices that this runner has refused or that have left their slots, the earliest first. Their jobs wait, or another runner has them. */
  out: Set<number>;
  /** Returns where the last waiting line could be served; undefined if it did not wait for a worker. */
  place: (() => LinePlace) | undefined;
  foundAt: number;
}

/**
 * Keeps batches whose lines cannot run from occupying the slice slots of this runner while other slices wait. A slice without a running
 * line leaves its slot, and its batch is parked. From then on, further slices of the batch are refused at once. One slice at a time tries
 * again, first after five seconds, then after delays that grow up to a minute. As soon as a worker has room for the last waiting line, all
 * slices are recalled. A paused batch is parked as well, until its pause ends.
 *
 * The jobs of these slices are delayed by two to four times the parking time, in case the process that would recall them dies. Those of a
 * paused batch are delayed by two to four times the longest parking time, because such a batch may have hundreds of slices.
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

  /**
   * Admits a slice, or refuses it while its batch is parked.
   * @returns the milliseconds by which to delay the job of a refused slice; undefined if the slice is admitted
   */
  admit(batch: string, slice: number, now = performance.now()): number | undefined {
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

  /** Returns the milliseconds for which a slice keeps its slot while no line of it runs and other slices wait. */
  slotHoldMs(batch: string, slice: number): number {
    return this.#parked.get(batch)?.trying === slice ? triesForMs : idleSlotMs;
  }

  /** Records that a line of a slice runs. */
  noteRunning(batch: string, slice: number): void {
    const parked = this.#parked.get(batch);
    if (parked?.trying === slice) this.#release(batch, parked);
  }

  /**
   * Parks the batch of a slice that leaves its slot.
   * @param place returns where the waiting line could be served; undefined if it does not wait for a worker
   * @returns the milliseconds by which to delay the slice's job
   */
  park(batch: string, slice: number, place: ParkedBatch['place'], now = performance.now()): number {
    const parked = this.#recordOf(batch, now);
    // Slices that wait at the same time also leave at about the same time. This counts as one parking.
    if (now >= parked.until) {
      parked.times += 1;
      parked.outMs = backoffMs(parkedFor, parked.times);
      parked.until = now + withJitter(parked.outMs);
      parked.recallAt = parked.until;
      parked.isBlocked = false;
    }
    parked.place = place;
    parked.out.add(slice);
    return outMs(parked);
  }

  /**
   * Parks a batch for `ms` milliseconds because its record pauses all its lines.
   * @returns the milliseconds by which to delay the slice's job
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

  /**
   * Records that a slice has left its slot.
   * @param isOver whether all its lines have a result
   */
  noteLeft(batch: string, slice: number, isOver: boolean): void {
    const parked = this.#parked.get(batch);
    if (!parked) return;
    const hasTried = parked.trying === slice;
    if (hasTried) parked.trying = undefined;
    if (!isOver) return;
    if (hasTried) this.#release(batch, parked);
    else if (parked.times === 0) this.#recall(batch, parked, 1);
  }

  /** Recalls slices that may run, and one slice of each batch whose next try is due. */
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
      // The line itself will end with this error.
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

  /** Starts the delayed jobs of up to `most` slices now, those that left first. Forgets a batch that has no such slices. */
  #recall(batch: string, parked: ParkedBatch, most: number): void {
    const slices = [...parked.out].slice(0, most);
    for (const slice of slices) {
      parked.out.delete(slice);
      const { queue, id } = createSliceJob(batch, slice, { ofOwner: 1 });
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
    else if (stopReason(found) !== undefined || (parked.isBlocked && found.blockedUntil === undefined))
      this.#release(batch, parked);
  }

  #forget(batch: string, parked: ParkedBatch): void {
    this.#parked.delete(batch);
    this.#parts.waitingWork.note(parked, []);
  }
}

/** Returns the milliseconds by which to delay the job of a slice that was refused or has left its slot. */
function outMs(parked: ParkedBatch): number {
  return Math.round(parked.outMs * (2 + 2 * Math.random()));
}
