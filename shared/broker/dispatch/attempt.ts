import { randomUUID } from 'node:crypto';
import type { FrameKind } from '../contract/subjects.ts';
import type { PartialAnswer } from './partial-answers.ts';
import type { LiveWorker, Placement } from './workers/live-pool.ts';

/** Milliseconds between two requests for missing frames. */
const askAgainMs = 500;

/** Milliseconds after a question in which its answer shows that the worker lives now. */
const justMs = 300;

/** One grant of a job to a worker, and how far the worker's answer has come. Times are milliseconds of `performance.now()`. */
export class Attempt {
  readonly worker: LiveWorker;
  readonly placement: Placement;
  /** Whether the job was offered: until its first frame, the worker may refuse it. */
  readonly isOffered: boolean;
  /** The token that frames of this attempt come under. Only its worker knows it. */
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
  /** Whether its first token comes far later than those of the worker's peers. */
  isLate = false;
  /** Headers of the upstream's answer that came with the first frame, as the worker gave them. */
  answerHeaders: Readonly<Record<string, string>> | undefined;
  /** Bytes of the answer that have come. */
  answerBytes = 0;
  /** What has come of an answer that is not streamed; undefined before. */
  partial: PartialAnswer | undefined;

  constructor(worker: LiveWorker, placement: Placement, isOffered: boolean) {
    this.worker = worker;
    this.placement = placement;
    this.isOffered = isOffered;
  }

  /** The number of the frame that comes next. */
  get nextSeq(): number {
    return this.#nextSeq;
  }

  /** Whether a frame of it has come. */
  get hasBegun(): boolean {
    return this.#begunAt !== undefined;
  }

  /** When the first frame of it came. */
  get begunAt(): number | undefined {
    return this.#begunAt;
  }

  /** Whether a frame of the process that took it has come: an error may be another one's, which took that one's place. */
  get isConfirmed(): boolean {
    return this.#isConfirmed;
  }

  /** When the last frame came, or the worker's silence last began to count anew. */
  get lastFrameAt(): number {
    return this.#lastFrameAt;
  }

  /** When the first piece of the answer, or its end, came. */
  get firstDataAt(): number | undefined {
    return this.#firstDataAt;
  }

  /** Milliseconds from the grant or offer until then. */
  get firstDataMs(): number | undefined {
    return this.#firstDataAt === undefined ? undefined : this.#firstDataAt - this.claimedAt;
  }

  /** When the last piece of the answer came. */
  get lastDataAt(): number {
    return this.#lastDataAt;
  }

  /** The next frame has come. A keep-alive has no number of its own. */
  received(kind: FrameKind, now: number): void {
    this.#begunAt ??= now;
    if (kind !== 'x') this.#isConfirmed = true;
    this.#lastFrameAt = now;
    this.worker.lastFrameAt = now;
    if (kind === 'k') return;
    this.#nextSeq += 1;
    if (kind === 'd' || kind === 'e') this.#firstDataAt ??= now;
    if (kind === 'd') this.#lastDataAt = now;
  }

  /** Notes that the worker is asked for missing frames. @returns false when it was asked less than half a second ago */
  askAgain(now: number): boolean {
    if (now - this.#askedAt < askAgainMs) return false;
    this.#askedAt = now;
    return true;
  }

  /** Whether its worker has just been asked for missing frames, and has sent one since: it lives. */
  hasJustAnswered(now: number): boolean {
    return now - this.#askedAt < justMs && this.worker.lastFrameAt > this.#askedAt;
  }

  /** Whether its wait was last compared with others so many milliseconds ago. Notes a new comparison. */
  isDue(now: number, ms: number): boolean {
    if (now - this.#comparedAt < ms) return false;
    this.#comparedAt = now;
    return true;
  }

  /** Counts the worker's silence, and the stream's, from now on: frames that were sent before may be lost. */
  restartSilence(now: number): void {
    this.#lastFrameAt = now;
    this.#lastDataAt = now;
  }
}
