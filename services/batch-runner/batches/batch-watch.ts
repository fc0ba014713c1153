import { isOver, findStopReason, type BatchRecord, type LineOutcome } from '#shared/accounts/batches/batch-record.ts';
import type { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import type { RunningLines } from './running-lines.ts';

/** Milliseconds between two reads of a batch's record. */
const lookMs = 1_000;

export interface BatchWatchParts {
  work: Pick<BatchWork, 'find' | 'setPause'>;
  running: Pick<RunningLines, 'has'>;
}

/**
 * Watches the record of a batch for its cancellation, expiry or end while one of its slices is processed. Clears the batch's mark `waiting
 * for a worker` as soon as one of its lines runs.
 */
export class BatchWatch {
  readonly #parts: BatchWatchParts;
  /** Whether the first read of the record showed a pause for all lines. */
  readonly #wasBlocked: boolean;
  readonly #stopped = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #batch: BatchRecord | undefined;

  constructor(parts: BatchWatchParts, batch: BatchRecord) {
    this.#parts = parts;
    this.#batch = batch;
    this.#wasBlocked = batch.blockedUntil !== undefined;
    this.#timer = setInterval(() => void this.look(), lookMs);
    this.#judge();
  }

  /** Aborts when no more lines of the batch may run. */
  get signal(): AbortSignal {
    return this.#stopped.signal;
  }

  /** Outcome of the lines that were not run; undefined while they may still run. */
  get outcome(): Extract<LineOutcome, 'cancelled' | 'expired'> | undefined {
    return this.#batch && findStopReason(this.#batch);
  }

  /**
   * Returns whether a line that was just recorded has ended the pause that the record shows. Returns true only once for each pause. A pause
   * that another slice has begun for all lines since this watch began stays, because the line had begun before it.
   */
  endPause(): boolean {
    const { pausedUntil, blockedUntil } = this.#batch ?? {};
    if (!this.#batch || pausedUntil === undefined || (blockedUntil !== undefined && !this.#wasBlocked)) return false;
    this.#batch = { ...this.#batch, pausedUntil: undefined };
    return true;
  }

  /** Reads the record now. Never rejects. */
  async look(): Promise<void> {
    const { work, running } = this.#parts;
    try {
      const { id = '' } = this.#batch ?? {};
      this.#batch = (await work.find(id)) ?? this.#batch;
      if (this.#batch?.lacksWorker === true && running.has(id)) await work.setPause(id, undefined);
    } catch {
      // Redis does not answer. The last known record stays, and its time may run out nevertheless.
    }
    this.#judge();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #judge(): void {
    if (this.#batch && (isOver(this.#batch) || findStopReason(this.#batch) !== undefined)) this.#stopped.abort();
  }
}
