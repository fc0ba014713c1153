import { randomUUID } from 'node:crypto';
import type { TraceContext } from '#shared/core/tracing/tracing.ts';
import type { FrameKind } from '../contract/subjects.ts';
import type { PartialAnswer } from './partial-answers.ts';
import type { Placement } from './workers/live-pool.ts';
import type { LiveWorker } from './workers/live-worker.ts';

/** Minimum milliseconds between two requests for missing frames. */
const retransmitIntervalMs = 500;

/** Milliseconds after a request for missing frames within which any frame of the worker shows that the worker lives now. */
const recentAnswerMs = 300;

/** The decision on a failed attempt. */
export interface FailureVerdict {
  /** Whether another worker may serve the job. */
  isMovable: boolean;
  /** Whether the failure counts against the worker and its pool. */
  isBlamed: boolean;
}

/** One grant or offer of a job to a worker, and the progress of the worker's answer. Times are milliseconds of `performance.now()`. */
export class Attempt {
  readonly worker: LiveWorker;
  readonly placement: Placement;
  /** Whether the job was offered rather than claimed. The worker may refuse an offer until it has sent a frame. */
  readonly isOffered: boolean;
  /** The token of the grant in the subjects of this attempt's frames. Only this dispatcher and the worker know it. */
  readonly grant = randomUUID();
  /** When the job was granted or offered. */
  readonly assignedAt = performance.now();
  #nextSeq = 0;
  #firstFrameAt: number | undefined;
  #isConfirmed = false;
  #lastFrameAt = this.assignedAt;
  #lastDataAt = this.assignedAt;
  #firstDataAt: number | undefined;
  #framesRequestedAt = Number.NEGATIVE_INFINITY;
  #comparedAt = 0;
  /** Whether the first token is far later than the first tokens of the worker's peers. */
  isLate = false;
  /** The decision on the attempt's failure; undefined as long as the attempt has not failed. */
  verdict: FailureVerdict | undefined;
  /** The trace context for the worker; undefined if the request is not traced. */
  traceContext: TraceContext | undefined;
  answerHeaders: Readonly<Record<string, string>> | undefined;
  answerBytes = 0;
  /** The received parts of an answer that is not streamed; undefined before the first part. */
  partialAnswer: PartialAnswer | undefined;

  constructor(worker: LiveWorker, placement: Placement, isOffered: boolean) {
    this.worker = worker;
    this.placement = placement;
    this.isOffered = isOffered;
  }

  /** The number of the next frame. */
  get nextSeq(): number {
    return this.#nextSeq;
  }

  get hasSentFrame(): boolean {
    return this.#firstFrameAt !== undefined;
  }

  /** When the first frame of any kind came. */
  get firstFrameAt(): number | undefined {
    return this.#firstFrameAt;
  }

  /**
   * Whether a frame other than an error has come. Only the process that has accepted the job sends such a frame; an error may come from a
   * process that has replaced it.
   */
  get isConfirmed(): boolean {
    return this.#isConfirmed;
  }

  /** When the last frame came, or when `restartSilence` was called. */
  get lastFrameAt(): number {
    return this.#lastFrameAt;
  }

  /** When the first piece or the end of the answer came, whichever came first. */
  get firstDataAt(): number | undefined {
    return this.#firstDataAt;
  }

  /** Milliseconds from the grant or offer to `firstDataAt`. */
  get firstDataMs(): number | undefined {
    return this.#firstDataAt === undefined ? undefined : this.#firstDataAt - this.assignedAt;
  }

  /** When the last piece of the answer came, or when `restartSilence` was called; before either, when the job was granted or offered. */
  get lastDataAt(): number {
    return this.#lastDataAt;
  }

  /** Records the next frame. A keep-alive has no number of its own. */
  recordFrame(kind: FrameKind, now: number): void {
    this.#firstFrameAt ??= now;
    if (kind !== 'x') this.#isConfirmed = true;
    this.#lastFrameAt = now;
    this.worker.recordFrame(now);
    if (kind === 'k') return;
    this.#nextSeq += 1;
    if (kind === 'd' || kind === 'e') this.#firstDataAt ??= now;
    if (kind === 'd') this.#lastDataAt = now;
  }

  /**
   * Records a request for missing frames, unless the last request is less than half a second old.
   * @returns whether the request may be sent
   */
  recordRetransmitRequest(now: number): boolean {
    if (now - this.#framesRequestedAt < retransmitIntervalMs) return false;
    this.#framesRequestedAt = now;
    return true;
  }

  /** Whether the worker was just asked for missing frames and has sent a frame since, which shows that it lives now. */
  hasJustAnswered(now: number): boolean {
    return now - this.#framesRequestedAt < recentAnswerMs && this.worker.lastFrameAt > this.#framesRequestedAt;
  }

  /**
   * Records a comparison of the wait for the first token with the waits of the worker's peers, unless the last comparison is too recent.
   * @param minIntervalMs minimum milliseconds between two comparisons
   * @returns whether the comparison must be made
   */
  recordComparison(now: number, minIntervalMs: number): boolean {
    if (now - this.#comparedAt < minIntervalMs) return false;
    this.#comparedAt = now;
    return true;
  }

  /** Counts the silence of the worker and of the stream from `now` on. Called when frames that were sent earlier may be lost. */
  restartSilence(now: number): void {
    this.#lastFrameAt = now;
    this.#lastDataAt = now;
  }
}
