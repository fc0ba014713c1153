import type { ErrorCode } from '#shared/core/errors.ts';
import type { TraceSpan } from '#shared/core/tracing/tracing.ts';
import type { Attempt } from './attempt.ts';
import { FailedWorkers } from './claims/failed-workers.ts';
import type { AttemptTimes, JobReport } from './job-report.ts';
import { JobTrace } from './job-trace.ts';
import type { LiveWorker } from './workers/live-worker.ts';

/** Maximum attempts of one job that are kept: the first ones and the last one. */
const maxKeptAttempts = 8;

/** The attempts of a job: the current one, the ended ones, and the workers that failed. Times are milliseconds of `performance.now()`. */
export class JobAttempts {
  /** The job's id. */
  readonly id: string;
  readonly #trace: JobTrace | undefined;
  /** The ended attempts and refused offers, oldest first. */
  readonly #ended: AttemptTimes[] = [];
  #current: Attempt | undefined;
  #count = 0;
  #refusals = 0;
  #moves: readonly ErrorCode[] = [];
  #failedWorkers: FailedWorkers | undefined;
  #waitingSince: number;
  #answerBytes = 0;

  /** @param trace the span of the job's request */
  constructor(id: string, queuedAt: number, trace?: TraceSpan) {
    this.id = id;
    this.#waitingSince = queuedAt;
    this.#trace = trace && new JobTrace(trace);
  }

  /** The attempt of the worker that has the job, or had it when the job ended. */
  get current(): Attempt | undefined {
    return this.#current;
  }

  /** The number of attempts so far, without refused offers. */
  get count(): number {
    return this.#count;
  }

  /** The number of refused offers. */
  get refusals(): number {
    return this.#refusals;
  }

  /** When the job's last wait in the queue began. */
  get waitingSince(): number {
    return this.#waitingSince;
  }

  get failedWorkers(): FailedWorkers | undefined {
    return this.#failedWorkers;
  }

  get traceId(): string | undefined {
    return this.#trace?.traceId;
  }

  begin(attempt: Attempt): void {
    this.#current = attempt;
    this.#count += 1;
    if (this.#trace) attempt.traceContext = this.#trace.beginAttempt(this, attempt);
  }

  /** Avoids a worker for a few seconds. See `Job` for `isReported`. */
  avoid(worker: Pick<LiveWorker, 'id' | 'pool'>, isReported: boolean): void {
    (this.#failedWorkers ??= new FailedWorkers()).add(worker, isReported);
  }

  /** Records that the worker refuses the offer, which does not count as an attempt. */
  recordRefusal(): void {
    this.#trace?.endRefusedOffer();
    this.#recordEnd('refused');
    this.#count -= 1;
    this.#refusals += 1;
    this.#current = undefined;
  }

  /** Records that the worker is lost or has failed with an error, and that the job waits for another worker. */
  recordLoss(code: ErrorCode): void {
    this.#trace?.endLostAttempt(code);
    this.#recordEnd(code);
    this.#moves = [...this.#moves, code];
    this.#current?.partialAnswer?.release();
    this.#current = undefined;
    this.#waitingSince = performance.now();
  }

  /** Records that the attempt continues a stream. */
  recordContinued(): void {
    this.#trace?.markContinued();
  }

  /** Records the end of the job. */
  end(problem: ErrorCode | 'cancelled' | undefined): void {
    this.#current?.partialAnswer?.release();
    this.#trace?.end(this, problem);
    this.#recordEnd(problem ?? 'done');
  }

  /** Returns what the report of the job says about its attempts. */
  report(): Pick<JobReport, 'attempts' | 'moves' | 'attempt' | 'timeline' | 'answerBytes'> {
    return {
      attempts: this.#count,
      moves: this.#moves,
      attempt: this.#current,
      timeline: this.#ended,
      answerBytes: this.#answerBytes,
    };
  }

  /** Records the end of the current attempt; does nothing without one. */
  #recordEnd(end: string): void {
    const attempt = this.#current;
    if (!attempt) return;
    this.#answerBytes += attempt.answerBytes;
    const { worker, isOffered, assignedAt, firstFrameAt: begunAt, firstDataAt } = attempt;
    // A job whose offer was refused has waited since the refusal.
    const waitingSince = Math.max(this.#waitingSince, this.#ended.at(-1)?.endedAt ?? 0);
    if (this.#ended.length === maxKeptAttempts) this.#ended.pop();
    const endedAt = performance.now();
    this.#ended.push({ worker: worker.id, isOffered, waitingSince, assignedAt, begunAt, firstDataAt, endedAt, end });
  }
}
