import type { RouterError } from '#shared/core/errors.ts';
import type { ContinuationFailure } from '#shared/core/cannot-continue.ts';
import type { Placement } from '../workers/live-pool.ts';
import type { ContinuationMemory } from './continuation-memory.ts';
import type { KeptStream } from './kept-stream.ts';

/**
 * What came of it that a stream lost its worker in its middle:
 *
 * - `continued`: another worker went on with it;
 * - `refused`: the other worker does not continue such an answer;
 * - `mismatch`: what the other worker generated did not follow on the text that was sent;
 * - `no_worker`: no worker that could continue it was there or free in time, or it was given to as many as it may;
 * - `failed`: the other worker failed, too;
 * - `not_kept`: there was no room to keep it.
 */
export const continuationOutcomes = ['continued', 'refused', 'mismatch', 'no_worker', 'failed', 'not_kept'] as const;
export type ContinuationOutcome = (typeof continuationOutcomes)[number];

const none: readonly ContinuationOutcome[] = [];

/** Milliseconds for which a continued stream puts out text until the worker that died before has shown to have died of something else. */
const provenMs = 5_000;

/** Whether workers of a placement continue broken answers. */
function continues({ pool, model }: Placement): boolean {
  return pool.models.some(({ id, capabilities }) => id === model && capabilities.includes('continue'));
}

/** One job's side of continuing its stream on another worker. Times are milliseconds of `performance.now()`. */
export class StreamContinuation {
  readonly #memory: ContinuationMemory;
  #kept: KeptStream | undefined;
  /** Whether a worker began it that could be continued, so that it was to be kept. */
  #wasWanted = false;
  #model: string | undefined;
  #broken: RouterError | undefined;
  #provenAt = Number.POSITIVE_INFINITY;
  #outcomes = none;

  constructor(memory: ContinuationMemory) {
    this.#memory = memory;
  }

  /** The stream begins. It is kept if workers like its own continue answers. */
  begin(body: Buffer | undefined, placement: Placement): void {
    this.#model = placement.model;
    if (!body || !continues(placement)) return;
    this.#wasWanted = true;
    this.#kept = this.#memory.open(body);
  }

  /** A piece is relayed to the client. */
  add(piece: Uint8Array): void {
    this.#kept?.add(piece);
  }

  /** What another worker needs; undefined if the stream cannot continue. */
  get kept(): KeptStream | undefined {
    return this.#kept?.isLetGo === false ? this.#kept : undefined;
  }

  /** Whether a placement's workers can continue it. */
  canBeAt(placement: Placement): boolean {
    return placement.model === this.#model && continues(placement);
  }

  /**
   * The error that the stream would have ended with on the worker that it lost; undefined unless it waits for another one, or for
   * the first piece of that one.
   */
  get broken(): RouterError | undefined {
    return this.#broken;
  }

  /** It has lost its worker, and waits for another one. */
  lost(error: RouterError): void {
    this.#broken ??= error;
  }

  /** Another worker goes on with it. */
  continued(now: number): void {
    this.#broken = undefined;
    this.#provenAt = now + provenMs;
    this.#outcomes = [...this.#outcomes, 'continued'];
  }

  /** Whether it has gone on for so long that it is not what the worker before died of. */
  hasProvenItself(now: number): boolean {
    return this.#broken === undefined && now > this.#provenAt;
  }

  /**
   * It ends with an error.
   * @param failure as its worker reports it
   * @param isQueued whether no worker has it
   * @param isMovable whether the error is one of those after which streams continue
   */
  failed(failure: ContinuationFailure | undefined, isQueued: boolean, isMovable: boolean): void {
    if (this.#broken) this.#outcomes = [...this.#outcomes, failure ?? (isQueued ? 'no_worker' : 'failed')];
    else if (isMovable && this.#wasWanted) this.#outcomes = [...this.#outcomes, this.kept ? 'no_worker' : 'not_kept'];
  }

  /** One for each worker that was lost in its middle. */
  get outcomes(): readonly ContinuationOutcome[] {
    return this.#outcomes;
  }

  /** The job is over. */
  close(): void {
    this.#kept?.letGo();
    this.#kept = undefined;
  }
}
