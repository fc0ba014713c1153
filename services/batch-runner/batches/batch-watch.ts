import { isOver, stopOf, type BatchRecord, type LineOutcome } from '#shared/accounts/batches/batch-record.ts';
import type { BatchWork } from '#shared/accounts/batches/batch-work.ts';

/** Milliseconds between two looks at a batch. */
const lookMs = 1_000;

/** Follows a batch while a slice of it is worked on: whether it was cancelled, has expired, or is over. */
export class BatchWatch {
  readonly #work: Pick<BatchWork, 'find'>;
  /** Whether it was paused for all its lines when it was read first. */
  readonly #wasBlocked: boolean;
  readonly #stopped = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #batch: BatchRecord | undefined;

  constructor(work: Pick<BatchWork, 'find'>, batch: BatchRecord) {
    this.#work = work;
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
    try {
      const { id = '' } = this.#batch ?? {};
      this.#batch = (await this.#work.find(id)) ?? this.#batch;
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
