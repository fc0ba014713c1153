import { isOver, findStopReason } from '#shared/accounts/batches/batch-record.ts';
import type { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import type { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { createSliceJob } from '#shared/background/batch-jobs.ts';
import type { Logger } from '#shared/core/log.ts';
import type { LinePlace } from '../lines/line-place.ts';
import { computeBackoffMs, addJitter } from './upstream-limit.ts';
import type { LineSlots } from './line-slots.ts';
import type { WaitingWork } from './waiting-work.ts';

/** How long a batch is parked. The time grows with each parking. */
const parkingDelay = { firstMs: 5_000, longestMs: 60_000 };

/** Milliseconds for which a slice without a running line keeps its slice slot. */
const idleSlotMs = 5_000;
/** Milliseconds for which a slice of a parked batch that tries again keeps its slice slot. */
const trialSlotMs = 1_000;

/** Milliseconds between two checks whether workers have room for parked batches. A check costs no request to Redis. */
const checkIntervalMs = 500;

/** Milliseconds between two reads of a parked batch's record, to see whether it was cancelled, is over, or is no longer paused. */
const readIntervalMs = 5_000;

/** Milliseconds until another slice is recalled if the first one has not begun. */
const recallMs = 5_000;

export interface ParkedBatchesParts {
  batches: Pick<BatchWork, 'find'>;
  jobs: Pick<BackgroundJobs, 'tryNow'>;
  slots: Pick<LineSlots, 'hasRoom'>;
  waitingWork: Pick<WaitingWork, 'setTiers'>;
  /** Number of slices that this runner processes at once. */
  atOnce: number;
  log: Logger;
}

interface ParkedBatch {
  /** How often the batch was parked in a row; 0 while it is not parked. */
  timesParked: number;
  /** Parking time in milliseconds, from which the delay of the slices' jobs is computed. */
  parkingMs: number;
  /** Whether the batch's record pauses all its lines. */
  isBlocked: boolean;
  /** Time of `performance.now()` until which no slice of the batch tries. */
  until: number;
  /** Earliest time at which a slice is recalled to try. */
  recallAt: number;
  /** The slice that has a slice slot to try whether lines run again. */
  tryingSlice: number | undefined;
  /** Slices that this runner has refused or that have left their slots, the earliest first. Their jobs wait, or another runner has them. */
  leftSlices: Set<number>;
  /** Returns where the last waiting line could be served; undefined if it did not wait for a worker. */
  place: (() => LinePlace) | undefined;
  /** Time of `performance.now()` at which the record of the batch was last read. */
  readAt: number;
}

/**
 * Takes the slice slots of this runner from batches that cannot run any line, while other slices wait for a slot. A slice without a running
 * line leaves its slot, and its batch is parked. From then on, further slices of the batch are refused at once. One slice at a time tries
 * again, first after five seconds, then after delays that grow up to a minute. As soon as a worker has room for the last waiting line, all
 * slices are recalled. A paused batch is parked as well, until its pause ends.
 *
 * The jobs of these slices are delayed by two to four times the parking time, in case the process that would recall them dies. The jobs of
 * a paused batch are delayed by two to four times the longest parking time, because a paused batch may have hundreds of slices.
 */
export class ParkedBatches {
  readonly #parts: ParkedBatchesParts;
  readonly #parked = new Map<string, ParkedBatch>();
  readonly #timer: NodeJS.Timeout;

  constructor(parts: ParkedBatchesParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => this.check(), checkIntervalMs);
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
    parked?.leftSlices.delete(slice);
    if (!parked || parked.timesParked === 0) return undefined;
    if (parked.tryingSlice === undefined && now >= parked.until) {
      parked.tryingSlice = slice;
      return undefined;
    }
    parked.leftSlices.add(slice);
    return computeJobDelayMs(parked);
  }

  /** Returns the milliseconds for which a slice keeps its slot while no line of it runs and other slices wait. */
  getSlotHoldMs(batch: string, slice: number): number {
    return this.#parked.get(batch)?.tryingSlice === slice ? trialSlotMs : idleSlotMs;
  }

  /** Records that a line of a slice runs. If the slice had its slot to try, the batch is no longer parked. */
  noteRunning(batch: string, slice: number): void {
    const parked = this.#parked.get(batch);
    if (parked?.tryingSlice === slice) this.#unpark(batch, parked);
  }

  /**
   * Parks the batch of a slice that leaves its slot.
   * @param place returns where the waiting line could be served; undefined if it does not wait for a worker
   * @returns the milliseconds by which to delay the slice's job
   */
  park(batch: string, slice: number, place: ParkedBatch['place'], now = performance.now()): number {
    const parked = this.#getOrAdd(batch, now);
    // Slices that wait at the same time also leave at about the same time, which counts as one parking.
    if (now >= parked.until) {
      parked.timesParked += 1;
      parked.parkingMs = computeBackoffMs(parkingDelay, parked.timesParked);
      parked.until = now + addJitter(parked.parkingMs);
      parked.recallAt = parked.until;
      parked.isBlocked = false;
    }
    parked.place = place;
    parked.leftSlices.add(slice);
    return computeJobDelayMs(parked);
  }

  /**
   * Parks a batch for `ms` milliseconds because its record pauses all its lines.
   * @returns the milliseconds by which to delay the slice's job
   */
  block(batch: string, slice: number, ms: number, now = performance.now()): number {
    const parked = this.#getOrAdd(batch, now);
    parked.timesParked = Math.max(1, parked.timesParked);
    parked.parkingMs = parkingDelay.longestMs;
    parked.until = Math.max(parked.until, now + ms);
    parked.recallAt = parked.until;
    parked.isBlocked = true;
    parked.place = undefined;
    parked.leftSlices.add(slice);
    return computeJobDelayMs(parked);
  }

  /**
   * Records that a slice has left its slot.
   * @param isOver whether all its lines have a result
   */
  noteLeft(batch: string, slice: number, isOver: boolean): void {
    const parked = this.#parked.get(batch);
    if (!parked) return;
    const hasTried = parked.tryingSlice === slice;
    if (hasTried) parked.tryingSlice = undefined;
    if (!isOver) return;
    if (hasTried) this.#unpark(batch, parked);
    else if (parked.timesParked === 0) this.#recall(batch, parked, 1);
  }

  /** Recalls slices that may run, and one slice of each batch whose next try is due. */
  check(now = performance.now()): void {
    for (const [batch, parked] of this.#parked) {
      if (now - parked.readAt >= readIntervalMs) {
        parked.readAt = now;
        void this.#checkRecord(batch, parked);
      }
      if (parked.timesParked === 0 || parked.tryingSlice !== undefined) this.#parts.waitingWork.setTiers(parked, []);
      else if (this.#hasRoom(parked)) this.#unpark(batch, parked);
      else if (now >= parked.recallAt) {
        parked.recallAt = now + recallMs;
        this.#recall(batch, parked, 1);
      }
    }
  }

  #getOrAdd(batch: string, now: number): ParkedBatch {
    let parked = this.#parked.get(batch);
    if (!parked) {
      parked = {
        timesParked: 0,
        parkingMs: 0,
        isBlocked: false,
        until: 0,
        recallAt: 0,
        tryingSlice: undefined,
        leftSlices: new Set(),
        place: undefined,
        readAt: now,
      };
      this.#parked.set(batch, parked);
    }
    return parked;
  }

  #hasRoom(parked: ParkedBatch): boolean {
    if (!parked.place) return false;
    const { slots, waitingWork } = this.#parts;
    try {
      const { placements, tiers } = parked.place();
      waitingWork.setTiers(parked, tiers);
      return slots.hasRoom(placements);
    } catch {
      // The line itself will end with this error.
      return true;
    }
  }

  #unpark(batch: string, parked: ParkedBatch): void {
    parked.timesParked = 0;
    parked.until = 0;
    parked.isBlocked = false;
    parked.place = undefined;
    this.#parts.waitingWork.setTiers(parked, []);
    this.#recall(batch, parked, this.#parts.atOnce);
  }

  /** Starts the delayed jobs of up to `maxSlices` slices now, beginning with those that left first. Drops a batch without such slices. */
  #recall(batch: string, parked: ParkedBatch, maxSlices: number): void {
    const slices = [...parked.leftSlices].slice(0, maxSlices);
    for (const slice of slices) {
      parked.leftSlices.delete(slice);
      const { queue, id } = createSliceJob(batch, slice, { ofOwner: 1 });
      this.#parts.jobs.tryNow({ queue, id }).catch((error: unknown) => {
        this.#parts.log.debug({ err: error, job: id }, 'a slice could not be recalled before its time');
      });
    }
    if (slices.length === 0 && parked.tryingSlice === undefined) this.#drop(batch, parked);
  }

  async #checkRecord(batch: string, parked: ParkedBatch): Promise<void> {
    const found = await this.#parts.batches.find(batch).catch(() => 'unknown' as const);
    if (found === 'unknown') return;
    if (!found || isOver(found)) this.#drop(batch, parked);
    else if (findStopReason(found) !== undefined || (parked.isBlocked && found.blockedUntil === undefined))
      this.#unpark(batch, parked);
  }

  #drop(batch: string, parked: ParkedBatch): void {
    this.#parked.delete(batch);
    this.#parts.waitingWork.setTiers(parked, []);
  }
}

/** Returns the milliseconds by which to delay the job of a slice that was refused or has left its slot. */
function computeJobDelayMs(parked: ParkedBatch): number {
  return Math.round(parked.parkingMs * (2 + 2 * Math.random()));
}
