import type { ErrorCode, RouterError, ContinuationFailure } from '#shared/core/errors.ts';
import type { JobEnd } from '../contract/job-contract.ts';
import type { Tier } from '#shared/core/tier.ts';
import type { Attempt } from './attempt.ts';
import type { Death } from './deaths/death.ts';
import type { JobReport } from './job-report.ts';
import type { JobRequest } from './job-request.ts';
import type { JobSink } from './job-sink.ts';
import type { JobState } from './job-event.ts';
import { JobAttempts } from './job-attempts.ts';
import type { ContinuationMemory } from './continuation/continuation-memory.ts';
import { createPayload, type Payload } from './continuation/kept-stream.ts';
import { StreamContinuation } from './continuation/stream-continuation.ts';
import { JobTickets } from './queue/job-tickets.ts';
import type { FailedWorkers } from './claims/failed-workers.ts';
import { noWorkers, type Placement } from './workers/live-pool.ts';

/** One request on its way through the cluster. Times are milliseconds of `performance.now()`. */
export class Job {
  readonly id: string;
  readonly request: JobRequest;
  readonly sink: JobSink;
  readonly finished: Promise<JobReport>;
  readonly queuedAt = performance.now();
  readonly tickets = new JobTickets();
  readonly #attempts: JobAttempts;
  readonly #finish: (report: JobReport) => void;
  #state: JobState = 'queued';
  #body: Buffer | undefined;
  #death: Death | undefined;
  #noWorkerSince: number | undefined;
  #firstByteAt: number | undefined;
  /** When the job was granted or offered to the worker that gave the first byte. */
  #begunClaimAt: number | undefined;
  readonly #continuation: StreamContinuation | undefined;
  #lastWriteAt = this.queuedAt;
  #tiers: readonly Tier[] | undefined;

  /** @param memory the memory that keeps the stream, so that it can continue on another worker; undefined if streams cannot continue */
  constructor(id: string, request: JobRequest, body: Buffer, sink: JobSink, memory?: ContinuationMemory) {
    this.id = id;
    this.request = request;
    this.#body = body;
    this.sink = sink;
    this.#attempts = new JobAttempts(id, this.queuedAt, request.trace);
    const { promise, resolve } = Promise.withResolvers<JobReport>();
    this.finished = promise;
    this.#finish = resolve;
    if (memory && request.stream && request.mayContinue === true) this.#continuation = new StreamContinuation(memory);
    if (request.avoid) this.#attempts.avoid(request.avoid, false);
  }

  get state(): JobState {
    return this.#state;
  }

  get isOver(): boolean {
    return this.#state === 'done' || this.#state === 'failed' || this.#state === 'cancelled';
  }

  /**
   * The request's body. It is kept as long as another worker may need it: until the client has got a part of the answer, or, for a kept
   * stream, until the stream cannot continue any more.
   */
  get body(): Buffer | undefined {
    return this.#body ?? this.#continuation?.kept?.body;
  }

  get payload(): Payload {
    return this.#continuation?.kept ?? createPayload(this.#body);
  }

  /** The state of the stream's continuation; undefined for a job that must not continue on another worker. */
  get continuation(): StreamContinuation | undefined {
    return this.#continuation;
  }

  /** Whether the client has got a part of the answer. */
  get hasBegun(): boolean {
    return this.#firstByteAt !== undefined;
  }

  /**
   * Whether another worker could serve the job: a worker has it, and the client has got nothing of the answer, or the stream can continue.
   */
  get canMove(): boolean {
    if (this.#state !== 'claimed' && this.#state !== 'streaming') return false;
    return !this.hasBegun || this.#continuation?.kept !== undefined;
  }

  /**
   * Returns the placements that can serve the job right now, best first. For a stream that has begun, returns only placements that can
   * continue it.
   * @param avoid the ids of workers that count as absent
   */
  findPlacements(avoid: ReadonlySet<string>): Placement[] {
    const placements = this.request.findPlacements(avoid);
    const continuation = this.#continuation;
    return this.hasBegun && continuation
      ? placements.filter((placement) => continuation.canContinueAt(placement))
      : placements;
  }

  /** The attempt of the worker that has the job, or had it when the job ended. */
  get attempt(): Attempt | undefined {
    return this.#attempts.current;
  }

  /** The number of attempts so far, without refused offers. */
  get attempts(): number {
    return this.#attempts.count;
  }

  /** The ids of the workers that failed on this job at most a few seconds ago. */
  get workersToAvoid(): ReadonlySet<string> {
    return this.failedWorkers?.listWorkersToAvoid() ?? noWorkers;
  }

  get failedWorkers(): FailedWorkers | undefined {
    return this.#attempts.failedWorkers;
  }

  /** The number of refused offers. */
  get refusals(): number {
    return this.#attempts.refusals;
  }

  /** The last death of a worker that had the job. This job, or another job of that worker, may have killed it. */
  get death(): Death | undefined {
    return this.#death;
  }

  /** When the job's last wait in the queue began. */
  get waitingSince(): number {
    return this.#attempts.waitingSince;
  }

  /** The start of the time since which no live worker can serve the job; undefined while a live worker can serve the job or has it. */
  get noWorkerSince(): number | undefined {
    return this.#noWorkerSince;
  }

  /** When the client of a stream last got something, keep-alives included. */
  get lastWriteAt(): number {
    return this.#lastWriteAt;
  }

  /**
   * Milliseconds from the grant or offer to the worker's first piece of a stream; undefined before that piece, and for a job that is not
   * streamed.
   */
  get firstTokenMs(): number | undefined {
    return this.request.stream ? this.attempt?.firstDataMs : undefined;
  }

  get traceId(): string | undefined {
    return this.#attempts.traceId;
  }

  /** The tiers that may serve the job, including tiers without a worker right now. Computed at the first call. */
  get tiers(): readonly Tier[] {
    this.#tiers ??= this.request.tiers();
    return this.#tiers;
  }

  /** Records whether a live worker was found that can serve the job. */
  recordWorkerSearch(isFound: boolean): void {
    if (isFound) this.#noWorkerSince = undefined;
    else this.#noWorkerSince ??= performance.now();
  }

  /** Changes the state. Only `JobMachine` calls it. */
  enter(state: JobState): void {
    this.#state = state;
  }

  /** Records that the job is offered to a worker, or granted to a worker that claimed it. */
  beginAttempt(attempt: Attempt): void {
    this.#noWorkerSince = undefined;
    this.#attempts.begin(attempt);
  }

  /** Records that the worker refuses the offer, which does not count as an attempt. */
  recordRefusal(): void {
    this.#attempts.recordRefusal();
  }

  /** Records that a worker has died with the job. */
  recordDeath(death: Death): void {
    this.#death = death;
  }

  /** Clears the recorded death, because the worker lives, or another job has killed it. */
  clearDeath(): void {
    this.#death = undefined;
  }

  /**
   * Avoids the job's worker for a few seconds after it has failed on the job, as long as other workers can serve the job.
   * @param isReported whether the worker reported a failure, which its whole pool may share, and did not just fall silent
   */
  avoidWorker(isReported: boolean): void {
    if (this.attempt) this.#attempts.avoid(this.attempt.worker, isReported);
  }

  /** Records that the worker of the attempt is lost or has failed, and that the job waits for another worker. */
  recordLoss(error: RouterError): void {
    if (this.hasBegun) this.#continuation?.recordLoss(error);
    this.#attempts.recordLoss(error.code);
  }

  /** Passes a piece of a streamed answer to the sink. */
  write(piece: Uint8Array, now: number): void {
    this.#lastWriteAt = now;
    if (this.isOver) return;
    this.#continuation?.add(piece);
    this.sink.data(piece);
  }

  /** Begins the answer, or continues the answer of a lost worker. From then on, the job can move only if the stream is kept. */
  beginAnswer(now: number): void {
    if (this.hasBegun) {
      this.#continuation?.recordContinued(now);
      this.#attempts.recordContinued();
      return this.sink.moved?.(this);
    }
    this.sink.begin(this);
    this.#firstByteAt = now;
    this.#begunClaimAt = this.attempt?.assignedAt;
    if (this.attempt) this.#continuation?.begin(this.#body, this.attempt.placement);
    this.#body = undefined;
  }

  keepAlive(now: number): void {
    this.#lastWriteAt = now;
    this.sink.keepAlive();
  }

  /**
   * Passes the rest of a complete answer to the sink: `lastBytes` after the kept parts of an answer that is not streamed, otherwise only
   * `lastBytes`.
   */
  writeEnd(lastBytes: Uint8Array, now: number): void {
    if (this.#state === 'claimed') this.beginAnswer(now);
    if (!this.isOver) this.sink.end(this.attempt?.partialAnswer?.join(lastBytes) ?? lastBytes);
  }

  complete(end: JobEnd): void {
    this.#end(undefined, end);
  }

  /**
   * Records that the job has failed.
   * @param failure the reason why its worker cannot continue the stream, if the worker reports it
   */
  fail(error: RouterError, failure?: ContinuationFailure): void {
    if (this.hasBegun) this.#continuation?.recordFailure(failure, this.attempt === undefined, error.movable);
    this.#end(error.code, undefined, error);
  }

  cancel(): void {
    this.#end('cancelled');
  }

  #end(problem: ErrorCode | 'cancelled' | undefined, end?: JobEnd, error?: RouterError): void {
    this.#body = undefined;
    this.#continuation?.close();
    this.#attempts.end(problem);
    this.#finish({
      state: this.#state,
      ...this.#attempts.report(),
      continuations: this.#continuation?.outcomes ?? [],
      queuedAt: this.queuedAt,
      claimedAt: this.#begunClaimAt ?? this.attempt?.assignedAt,
      firstByteAt: this.#firstByteAt,
      endedAt: performance.now(),
      end,
      error,
    });
  }
}
