import { isOver, findStopReason, type BatchRecord, type LineOutcome } from '#shared/accounts/batches/batch-record.ts';
import type { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import type { RunningLines } from './running-lines.ts';

/** Milliseconds between two reads of a batch's record. */
const readIntervalMs = 1_000;

export interface BatchWatchParts {
  batches: Pick<BatchWork, 'find' | 'setPause'>;
  runningLines: Pick<RunningLines, 'has'>;
}

/**
 * Watches the record of a batch for cancellation, expiry and end while a slice of the batch is processed. Clears the mark `waiting for a
 * worker` as soon as a line of the batch runs.
 */
export class BatchWatch {
  readonly #parts: BatchWatchParts;
  /** Whether the batch had a pause for all lines when this watch began. */
  readonly #wasBlocked: boolean;
  readonly #stopped = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #batch: BatchRecord | undefined;

  constructor(parts: BatchWatchParts, batch: BatchRecord) {
    this.#parts = parts;
    this.#batch = batch;
    this.#wasBlocked = batch.blockedUntil !== undefined;
    this.#timer = setInterval(() => void this.readRecord(), readIntervalMs);
    this.#stopIfOver();
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
   * Ends the pause of the batch in the copy of its record that this watch holds. Call it when the result of a line was recorded. A pause
   * for all lines that another slice has begun since this watch began stays, because the line had begun before that pause.
   * @returns whether the line has ended the pause; true only once for each pause
   */
  endPause(): boolean {
    const { pausedUntil, blockedUntil } = this.#batch ?? {};
    if (!this.#batch || pausedUntil === undefined || (blockedUntil !== undefined && !this.#wasBlocked)) return false;
    this.#batch = { ...this.#batch, pausedUntil: undefined };
    return true;
  }

  /** Reads the record now. Never rejects. */
  async readRecord(): Promise<void> {
    const { batches, runningLines } = this.#parts;
    try {
      const { id = '' } = this.#batch ?? {};
      this.#batch = (await batches.find(id)) ?? this.#batch;
      if (this.#batch?.lacksWorker === true && runningLines.has(id)) await batches.setPause(id, undefined);
    } catch {
      // Redis does not answer. The last known record stays in use, because the time of the batch may still run out.
    }
    this.#stopIfOver();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #stopIfOver(): void {
    if (this.#batch && (isOver(this.#batch) || findStopReason(this.#batch) !== undefined)) this.#stopped.abort();
  }
}
