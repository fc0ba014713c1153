import type { ErrorCode, RouterError } from '#shared/core/errors.ts';
import type { TraceContext } from '#shared/core/tracing/tracing.ts';
import type { JobEnd } from '../contract/job-contract.ts';
import type { Tier } from '#shared/core/tier.ts';
import type { Attempt } from './attempt.ts';
import type { Death } from './deaths/death.ts';
import type { JobRequest } from './job-request.ts';
import { nextState, type JobEvent, type JobState } from './job-state.ts';
import { JobTrace } from './job-trace.ts';
import { JobTickets } from './queue/job-tickets.ts';
import { FailedPlaces } from './claims/failed-places.ts';
import { nobody, type LiveWorker } from './workers/live-pool.ts';

/**
 * Where a job's answer goes. One of `end` and `fail` is called, once, unless the job is cancelled before. A method that throws
 * fails the job: `fail` is called then, unless it is the one that threw.
 */
export interface JobSink {
  /** Called once, before the first bytes of the answer: it is decided who serves the job. */
  begin(job: Job): void;
  /** A piece of a streamed answer, ready for the client's socket. */
  data(bytes: Uint8Array): void;
  /** The client of a stream has got nothing for a while. */
  keepAlive(): void;
  /** The last bytes of a streamed answer, or the whole of one that is not streamed. */
  end(bytes: Uint8Array): void;
  fail(error: RouterError): void;
}

/** How a job went. Times are milliseconds of `performance.now()`. */
export interface JobReport {
  state: JobState;
  attempts: number;
  /** Why it was taken from a worker and given to another one, each time. */
  moves: readonly ErrorCode[];
  queuedAt: number;
  claimedAt: number | undefined;
  firstByteAt: number | undefined;
  endedAt: number;
  /** The attempt that it ended in; undefined when no worker had the job then. */
  attempt: Pick<Attempt, 'worker' | 'placement'> | undefined;
  end: JobEnd | undefined;
  error: RouterError | undefined;
}

const none: readonly ErrorCode[] = [];

/** One request on its way through the cluster. Times are milliseconds of `performance.now()`. */
export class Job {
  readonly id: string;
  readonly request: JobRequest;
  readonly sink: JobSink;
  readonly finished: Promise<JobReport>;
  readonly queuedAt = performance.now();
  readonly tickets = new JobTickets();
  readonly #trace: JobTrace | undefined;
  readonly #finish: (report: JobReport) => void;
  #state: JobState = 'queued';
  #body: Buffer | undefined;
  #attempt: Attempt | undefined;
  #attempts = 0;
  #failedPlaces: FailedPlaces | undefined;
  #moves = none;
  #refusals = 0;
  #death: Death | undefined;
  #waitingSince = this.queuedAt;
  #noWorkerSince: number | undefined;
  #firstByteAt: number | undefined;
  #lastWriteAt = this.queuedAt;
  #tiers: readonly Tier[] | undefined;

  constructor(id: string, request: JobRequest, body: Buffer, sink: JobSink) {
    this.id = id;
    this.request = request;
    this.#body = body;
    this.sink = sink;
    this.#trace = request.trace && new JobTrace(request.trace);
    const { promise, resolve } = Promise.withResolvers<JobReport>();
    this.finished = promise;
    this.#finish = resolve;
    if (request.avoid) this.#avoid(request.avoid, false);
  }

  get state(): JobState {
    return this.#state;
  }

  get isOver(): boolean {
    return this.#state === 'done' || this.#state === 'failed' || this.#state === 'cancelled';
  }

  /** Kept until the client has seen something of the answer: until then another worker may need it. */
  get body(): Buffer | undefined {
    return this.#body;
  }

  /** The attempt of the worker that has the job, or had it when the job ended. */
  get attempt(): Attempt | undefined {
    return this.#attempt;
  }

  /** Attempts so far, without refused offers. */
  get attempts(): number {
    return this.#attempts;
  }

  /** Workers that failed on this job a few seconds ago or less. */
  get avoid(): ReadonlySet<string> {
    return this.#failedPlaces?.workers() ?? nobody;
  }

  /** The places where it failed; undefined while there are none. */
  get failedPlaces(): FailedPlaces | undefined {
    return this.#failedPlaces;
  }

  /** How often a worker refused it. */
  get refusals(): number {
    return this.#refusals;
  }

  /** The last death of a worker that had it: one of that worker's jobs may have killed it. */
  get death(): Death | undefined {
    return this.#death;
  }

  /** Since when the job waits in the queue for this attempt. */
  get waitingSince(): number {
    return this.#waitingSince;
  }

  /** Since when no live worker could serve it. */
  get noWorkerSince(): number | undefined {
    return this.#noWorkerSince;
  }

  /** When the client of a stream last got anything, keep-alives included. */
  get lastWriteAt(): number {
    return this.#lastWriteAt;
  }

  /** Milliseconds from its grant or offer to the first piece of a streamed answer; undefined before that, and for any other. */
  get firstTokenMs(): number | undefined {
    if (!this.request.stream || this.#firstByteAt === undefined || !this.#attempt) return undefined;
    return this.#firstByteAt - this.#attempt.claimedAt;
  }

  get traceId(): string | undefined {
    return this.#trace?.traceId;
  }

  /** The tiers that may serve it, those too that have no worker right now. Decided at the first call. */
  get tiers(): readonly Tier[] {
    this.#tiers ??= this.request.tiers();
    return this.#tiers;
  }

  /** Workers were looked for that can serve it. */
  foundWorkers(some: boolean): void {
    if (some) this.#noWorkerSince = undefined;
    else this.#noWorkerSince ??= performance.now();
  }

  /** The job is offered to a worker, or granted to one that claimed it. @returns the trace context for the worker */
  give(attempt: Attempt): TraceContext | undefined {
    this.#on(attempt.isOffered ? 'offer' : 'claim');
    this.#noWorkerSince = undefined;
    this.#attempt = attempt;
    this.#attempts += 1;
    return this.#trace?.claimed(this, attempt);
  }

  /** The worker that it was offered to refuses it: this was no attempt. */
  refused(): void {
    this.#on('refuse');
    this.#trace?.refused();
    this.#attempts -= 1;
    this.#refusals += 1;
    this.#attempt = undefined;
  }

  /** Its worker died. */
  diedWith(death: Death): void {
    this.#death = death;
  }

  /** The worker that seemed to have died with it lives. */
  survived(): void {
    this.#death = undefined;
  }

  /**
   * Its worker failed on it, and is to be avoided for a few seconds as long as there are others.
   * @param hasAnswered whether the worker reported a failure, which may be its whole pool's, rather than fell silent
   */
  avoidWorker(hasAnswered: boolean): void {
    if (this.#attempt) this.#avoid(this.#attempt.worker, hasAnswered);
  }

  /** Its attempt is over, and the job waits for another worker. */
  lost(reason: ErrorCode): void {
    this.#on('lose');
    this.#trace?.lost(reason);
    this.#moves = [...this.#moves, reason];
    this.#attempt = undefined;
    this.#waitingSince = performance.now();
  }

  /** A piece of a streamed answer has come. The job cannot move after the first one, and its body is released. */
  write(piece: Uint8Array, now: number): void {
    this.#lastWriteAt = now;
    if (this.#state === 'claimed') {
      this.#on('output');
      this.sink.begin(this);
      this.#firstByteAt = now;
      this.#body = undefined;
    }
    if (!this.isOver) this.sink.data(piece);
  }

  /** The client of a stream is shown that its request is alive. */
  keepAlive(now: number): void {
    this.#lastWriteAt = now;
    this.sink.keepAlive();
  }

  /** The answer is complete: the client gets what is left of it. */
  writeEnd(lastBytes: Uint8Array, now: number): void {
    if (this.#state === 'claimed') {
      this.sink.begin(this);
      this.#firstByteAt = now;
    }
    if (!this.isOver) this.sink.end(this.#attempt?.whole(lastBytes) ?? lastBytes);
  }

  complete(end: JobEnd): void {
    this.#over('end', end, undefined);
  }

  fail(error: RouterError): void {
    this.#over('fail', undefined, error);
  }

  cancel(): void {
    this.#over('cancel', undefined, undefined);
  }

  #avoid(worker: Pick<LiveWorker, 'id' | 'pool'>, hasAnswered: boolean): void {
    this.#failedPlaces ??= new FailedPlaces();
    this.#failedPlaces.add(worker, hasAnswered);
  }

  #on(event: JobEvent): void {
    this.#state = nextState(this.#state, event);
  }

  #over(event: 'end' | 'fail' | 'cancel', end: JobEnd | undefined, error: RouterError | undefined): void {
    this.#on(event);
    this.#body = undefined;
    this.#attempt?.dropParts();
    this.#trace?.over(this, error?.code ?? (event === 'cancel' ? 'cancelled' : undefined));
    this.#finish({
      state: this.#state,
      attempts: this.#attempts,
      moves: this.#moves,
      queuedAt: this.queuedAt,
      claimedAt: this.#attempt?.claimedAt,
      firstByteAt: this.#firstByteAt,
      endedAt: performance.now(),
      attempt: this.#attempt,
      end,
      error,
    });
  }
}
