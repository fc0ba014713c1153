import { isOver, stopOf, type BatchRecord, type LineOutcome } from '#shared/accounts/batches/batch-record.ts';
import type { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import type { RunningLines } from './running-lines.ts';

/** Milliseconds between two looks at a batch. */
const lookMs = 1_000;

export interface BatchWatchParts {
  work: Pick<BatchWork, 'find' | 'pause'>;
  running: Pick<RunningLines, 'has'>;
}

/**
 * Follows a batch while a slice of it is worked on: whether it was cancelled, has expired, or is over. Sees to it that one of which lines
 * run is not shown as one that lacks a worker.
 */
export class BatchWatch {
  readonly #parts: BatchWatchParts;
  /** Whether it was paused for all its lines when it was read first. */
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

  /** Aborts when no more lines of the batch are to be run. */
  get signal(): AbortSignal {
    return this.#stopped.signal;
  }

  /** What becomes of lines that were not run; undefined while they are to be. */
  get outcome(): Extract<LineOutcome, 'cancelled' | 'expired'> | undefined {
    return this.#batch && stopOf(this.#batch);
  }

  /**
   * A line was recorded. @returns whether the batch is shown as paused, and is not any more; once for each pause. One that another slice
   * has begun for all of them since then goes on: this line had begun before.
   */
  takePause(): boolean {
    const { pausedUntil, blockedUntil } = this.#batch ?? {};
    if (!this.#batch || pausedUntil === undefined || (blockedUntil !== undefined && !this.#wasBlocked)) return false;
    this.#batch = { ...this.#batch, pausedUntil: undefined };
    return true;
  }

  /** Looks at once. */
  async look(): Promise<void> {
    const { work, running } = this.#parts;
    try {
      const { id = '' } = this.#batch ?? {};
      this.#batch = (await work.find(id)) ?? this.#batch;
      if (this.#batch?.lacksWorker === true && running.has(id)) await work.pause(id, undefined);
    } catch {
      // Redis is away: what is known of the batch stays, and its time may run out all the same.
    }
    this.#judge();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #judge(): void {
    if (this.#batch && (isOver(this.#batch) || stopOf(this.#batch) !== undefined)) this.#stopped.abort();
  }
}
