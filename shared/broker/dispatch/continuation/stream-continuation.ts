import type { RouterError, ContinuationFailure } from '#shared/core/errors.ts';
import type { Placement } from '../workers/live-pool.ts';
import type { ContinuationMemory } from './continuation-memory.ts';
import type { KeptStream } from './kept-stream.ts';

/**
 * The outcomes of a stream after the loss of its worker:
 *
 * - `continued`: another worker continued it;
 * - `refused`: the other worker does not continue answers of this kind;
 * - `mismatch`: the other worker's output did not begin where the sent text ended;
 * - `no_worker`: no worker that could continue the stream was present or free in time, or the job had no attempts left;
 * - `failed`: the other worker failed, too;
 * - `not_kept`: there was no memory for the copy of the stream.
 */
export const continuationOutcomes = ['continued', 'refused', 'mismatch', 'no_worker', 'failed', 'not_kept'] as const;
export type ContinuationOutcome = (typeof continuationOutcomes)[number];

const noOutcomes: readonly ContinuationOutcome[] = [];

/** Milliseconds for which a continued stream must run until it no longer counts as a possible cause of the earlier worker's death. */
const clearedAfterMs = 5_000;

function canContinue({ pool, model }: Placement): boolean {
  return pool.models.some(({ id, capabilities }) => id === model && capabilities.includes('continue'));
}

/**
 * The data with which one job's stream can continue on another worker, and the outcomes so far. Times are milliseconds of
 * `performance.now()`.
 */
export class StreamContinuation {
  readonly #memory: ContinuationMemory;
  #kept: KeptStream | undefined;
  /** Whether the stream should be kept, because other workers of its first worker's pool can continue it. */
  #shouldKeep = false;
  #model: string | undefined;
  #lossError: RouterError | undefined;
  #clearedAt = Number.POSITIVE_INFINITY;
  #outcomes = noOutcomes;

  constructor(memory: ContinuationMemory) {
    this.#memory = memory;
  }

  /**
   * Handles the beginning of the stream. Keeps the stream if the model of the placement can continue answers.
   * @param body the body of the stream's request
   */
  begin(body: Buffer | undefined, placement: Placement): void {
    this.#model = placement.model;
    if (!body || !canContinue(placement)) return;
    this.#shouldKeep = true;
    this.#kept = this.#memory.keep(body);
  }

  add(piece: Uint8Array): void {
    this.#kept?.add(piece);
  }

  /** The kept stream, which another worker needs; undefined if the stream cannot continue. */
  get kept(): KeptStream | undefined {
    return this.#kept?.isDropped === false ? this.#kept : undefined;
  }

  /** Whether the stream can continue at a placement: it has the same model, and that model can continue answers there. */
  canContinueAt(placement: Placement): boolean {
    return placement.model === this.#model && canContinue(placement);
  }

  /** The error of the lost worker while the stream waits for another worker, or for that worker's first piece; undefined otherwise. */
  get lossError(): RouterError | undefined {
    return this.#lossError;
  }

  /** Records that the stream has lost its worker. */
  recordLoss(error: RouterError): void {
    this.#lossError ??= error;
  }

  /** Records that another worker continues the stream. */
  recordContinued(now: number): void {
    this.#lossError = undefined;
    this.#clearedAt = now + clearedAfterMs;
    this.#outcomes = [...this.#outcomes, 'continued'];
  }

  /** Whether the stream has run on another worker for so long that it did not cause the death of the earlier one. */
  isCleared(now: number): boolean {
    return this.#lossError === undefined && now > this.#clearedAt;
  }

  /**
   * Records that the stream ends with an error.
   * @param failure the reason why its worker cannot continue the stream, if the worker reports a reason
   * @param isQueued whether no worker has the job
   * @param isMovable whether streams continue after errors of this kind
   */
  recordFailure(failure: ContinuationFailure | undefined, isQueued: boolean, isMovable: boolean): void {
    if (this.#lossError) this.#outcomes = [...this.#outcomes, failure ?? (isQueued ? 'no_worker' : 'failed')];
    else if (isMovable && this.#shouldKeep) this.#outcomes = [...this.#outcomes, this.kept ? 'no_worker' : 'not_kept'];
  }

  /** One outcome for each worker that was lost in the middle of the stream. */
  get outcomes(): readonly ContinuationOutcome[] {
    return this.#outcomes;
  }

  close(): void {
    this.#kept?.drop();
    this.#kept = undefined;
  }
}
