import { randomUUID } from 'node:crypto';
import type { FrameKind } from '../contract/subjects.ts';
import type { PartialAnswer } from './partial-answers.ts';
import type { LiveWorker, Placement } from './workers/live-pool.ts';

const retransmitIntervalMs = 500;

/** Milliseconds after a request for frames during which the worker's answer shows that it lives now. */
const recentMs = 300;

/** One grant of a job to a worker, and the progress of the worker's answer. Times are milliseconds of `performance.now()`. */
export class Attempt {
  readonly worker: LiveWorker;
  readonly placement: Placement;
  /** Whether the job was offered rather than claimed. The worker may refuse an offer until its first frame. */
  readonly isOffered: boolean;
  /** The token in the subjects of this attempt's frames. Only its worker knows it. */
  readonly grant = randomUUID();
  readonly claimedAt = performance.now();
  #nextSeq = 0;
  #begunAt: number | undefined;
  #isConfirmed = false;
  #lastFrameAt = this.claimedAt;
  #lastDataAt = this.claimedAt;
  #firstDataAt: number | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #comparedAt = 0;
  /** Whether the first token comes far later than that of the worker's peers. */
  isLate = false;
  answerHeaders: Readonly<Record<string, string>> | undefined;
  answerBytes = 0;
  /** The received parts of an answer that is not streamed; undefined before the first. */
  partial: PartialAnswer | undefined;

  constructor(worker: LiveWorker, placement: Placement, isOffered: boolean) {
    this.worker = worker;
    this.placement = placement;
    this.isOffered = isOffered;
  }

  get nextSeq(): number {
    return this.#nextSeq;
  }

  get hasBegun(): boolean {
    return this.#begunAt !== undefined;
  }

  get begunAt(): number | undefined {
    return this.#begunAt;
  }

  /**
   * Whether a frame other than an error has come. It can come only from the process that took the job; an error may come from a process
   * that has replaced it.
   */
  get isConfirmed(): boolean {
    return this.#isConfirmed;
  }

  /** When the last frame came, or `restartSilence` was called. */
  get lastFrameAt(): number {
    return this.#lastFrameAt;
  }

  /** When the first piece of the answer, or its end, came. */
  get firstDataAt(): number | undefined {
    return this.#firstDataAt;
  }

  /** Milliseconds from the grant or offer to `firstDataAt`. */
  get firstDataMs(): number | undefined {
    return this.#firstDataAt === undefined ? undefined : this.#firstDataAt - this.claimedAt;
  }

  get lastDataAt(): number {
    return this.#lastDataAt;
  }

  /** Records the next frame. A keep-alive has no number of its own. */
  recordFrame(kind: FrameKind, now: number): void {
    this.#begunAt ??= now;
    if (kind !== 'x') this.#isConfirmed = true;
    this.#lastFrameAt = now;
    this.worker.lastFrameAt = now;
    if (kind === 'k') return;
    this.#nextSeq += 1;
    if (kind === 'd' || kind === 'e') this.#firstDataAt ??= now;
    if (kind === 'd') this.#lastDataAt = now;
  }

  /**
   * Records a request for missing frames.
   * @returns false if the last request is less than half a second old
   */
  recordRetransmitRequest(now: number): boolean {
    if (now - this.#askedAt < retransmitIntervalMs) return false;
    this.#askedAt = now;
    return true;
  }

  /** Whether the worker was just asked for missing frames and has sent a frame since, which shows that it lives. */
  hasJustAnswered(now: number): boolean {
    return now - this.#askedAt < recentMs && this.worker.lastFrameAt > this.#askedAt;
  }

  /**
   * Whether the wait for the first token was last compared with the peers' at least `ms` milliseconds ago. Records a new comparison if
   * so.
   */
  isComparisonDue(now: number, ms: number): boolean {
    if (now - this.#comparedAt < ms) return false;
    this.#comparedAt = now;
    return true;
  }

  /** Counts the silence of the worker and of the stream from now on, because frames that were sent before may be lost. */
  restartSilence(now: number): void {
    this.#lastFrameAt = now;
    this.#lastDataAt = now;
  }
}
