import type { RouterError } from '#shared/core/errors.ts';
import type { ContinuationFailure } from '#shared/core/cannot-continue.ts';
import type { Placement } from '../workers/live-pool.ts';
import type { ContinuationMemory } from './continuation-memory.ts';
import type { KeptStream } from './kept-stream.ts';

/**
 * The outcome of a stream's loss of its worker:
 *
 * - `continued`: another worker continued it;
 * - `refused`: the other worker does not continue such an answer;
 * - `mismatch`: the other worker's output did not follow on the text that was sent;
 * - `no_worker`: no worker that could continue it was present or free in time, or the job had used up its attempts;
 * - `failed`: the other worker failed, too;
 * - `not_kept`: there was no memory for its copy.
 */
export const continuationOutcomes = ['continued', 'refused', 'mismatch', 'no_worker', 'failed', 'not_kept'] as const;
export type ContinuationOutcome = (typeof continuationOutcomes)[number];

const noOutcomes: readonly ContinuationOutcome[] = [];

/** Milliseconds for which a continued stream must run before it no longer counts as a possible cause of the earlier death. */
const provenMs = 5_000;

function continues({ pool, model }: Placement): boolean {
  return pool.models.some(({ id, capabilities }) => id === model && capabilities.includes('continue'));
}

/** One job's state for continuing its stream on another worker. Times are milliseconds of `performance.now()`. */
export class StreamContinuation {
  readonly #memory: ContinuationMemory;
  #kept: KeptStream | undefined;
  /** Whether the stream was to be kept, because workers like its first one can continue it. */
  #wasWanted = false;
  #model: string | undefined;
  #broken: RouterError | undefined;
  #provenAt = Number.POSITIVE_INFINITY;
  #outcomes = noOutcomes;

  constructor(memory: ContinuationMemory) {
    this.#memory = memory;
  }

  /** Handles the beginning of the stream. Keeps it if the model of its pool can continue answers. */
  begin(body: Buffer | undefined, placement: Placement): void {
    this.#model = placement.model;
    if (!body || !continues(placement)) return;
    this.#wasWanted = true;
    this.#kept = this.#memory.keep(body);
  }

  add(piece: Uint8Array): void {
    this.#kept?.add(piece);
  }

  /** The data that another worker needs; undefined if the stream cannot continue. */
  get kept(): KeptStream | undefined {
    return this.#kept?.isDropped === false ? this.#kept : undefined;
  }

  canBeAt(placement: Placement): boolean {
    return placement.model === this.#model && continues(placement);
  }

  /**
   * The error of the lost worker. It is set while the stream waits for another worker or for the first piece of that worker; undefined
   * otherwise.
   */
  get lossError(): RouterError | undefined {
    return this.#broken;
  }

  lost(error: RouterError): void {
    this.#broken ??= error;
  }

  recordContinued(now: number): void {
    this.#broken = undefined;
    this.#provenAt = now + provenMs;
    this.#outcomes = [...this.#outcomes, 'continued'];
  }

  /** Whether the stream has continued for so long that it is not the cause of the earlier worker's death. */
  isCleared(now: number): boolean {
    return this.#broken === undefined && now > this.#provenAt;
  }

  /**
   * Records that the stream ends with an error.
   * @param failure the reason that its worker reports
   * @param isQueued whether no worker has the job
   * @param isMovable whether streams continue after errors of this kind
   */
  failed(failure: ContinuationFailure | undefined, isQueued: boolean, isMovable: boolean): void {
    if (this.#broken) this.#outcomes = [...this.#outcomes, failure ?? (isQueued ? 'no_worker' : 'failed')];
    else if (isMovable && this.#wasWanted) this.#outcomes = [...this.#outcomes, this.kept ? 'no_worker' : 'not_kept'];
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
