import type { RouterError } from '#shared/core/errors.ts';
import { chooseWorker } from '#shared/broker/dispatch/claims/choose-worker.ts';
import type { Dispatcher } from '#shared/broker/dispatch/dispatcher.ts';
import type { Job } from '#shared/broker/dispatch/job.ts';
import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import type { JobSink } from '#shared/broker/dispatch/job-sink.ts';
import type { JobRequest } from '#shared/broker/dispatch/job-request.ts';
import type { LiveWorker } from '#shared/broker/dispatch/workers/live-worker.ts';
import type { JobDispatcher } from '../run-job.ts';
import type { Hedges } from './hedges.ts';

/** Milliseconds between two checks of a job that waits for a worker. */
const checkMs = 100;

export interface HedgedJobOptions {
  dispatcher: Pick<Dispatcher, 'dispatch' | 'cancel' | 'fail'>;
  hedges: Hedges;
  /** The requested registry name. Each name has a budget of hedges. */
  name: string;
}

/** Creates a dispatcher that may dispatch a second job for a request. */
export function createHedgingDispatcher(options: HedgedJobOptions): JobDispatcher<HedgedJob> {
  return {
    dispatch: (...args) => new HedgedJob(options, ...args),
    cancel: (hedged) => hedged.cancel(),
    fail: (hedged, error) => hedged.fail(error),
  };
}

/** One of the jobs that compete to serve the request. */
interface Racer {
  job: Job | undefined;
  hasFailed: boolean;
}

/**
 * A streamed request for which a second job may be dispatched. This happens if the first token is later than 95 % of the first tokens of
 * the pool and model, a worker is free, and the name has a hedge left. The first job that writes keeps the client's sink, and the other job
 * is cancelled.
 */
export class HedgedJob {
  /** Resolves with the report of the job that served the client, once all jobs have ended. */
  readonly finished: Promise<JobReport>;
  readonly #parts: HedgedJobOptions;
  readonly #request: JobRequest;
  readonly #sink: JobSink;
  readonly #racers: Racer[] = [];
  /** The job that sends its bytes or its error to the client; undefined until a job has done so. */
  #winner: Racer | undefined;
  /** The request's body; undefined as soon as no second job can be dispatched. */
  #body: Buffer | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: HedgedJobOptions, request: JobRequest, body: Buffer, sink: JobSink) {
    this.#parts = parts;
    this.#request = request;
    this.#sink = sink;
    this.#body = body;
    parts.hedges.earn(parts.name);
    const first = this.#dispatch(request, body);
    this.finished = this.#finish(first);
    this.#checkFirst(first);
  }

  /** Cancels all jobs because the client has left. */
  cancel(): void {
    this.#stopChecking();
    for (const { job } of this.#racers) if (job) this.#parts.dispatcher.cancel(job);
  }

  /** Fails all jobs because the answer cannot be processed. */
  fail(error: RouterError): void {
    this.#stopChecking();
    for (const { job } of this.#racers) if (job) this.#parts.dispatcher.fail(job, error);
  }

  #dispatch(request: JobRequest, body: Buffer): Job {
    const sink = this.#sink;
    const racer: Racer = { job: undefined, hasFailed: false };
    this.#racers.push(racer);
    racer.job = this.#parts.dispatcher.dispatch(request, body, {
      begin: (job) => {
        this.#win(racer);
        sink.begin(job);
      },
      data: (bytes) => sink.data(bytes),
      moved: (job) => sink.moved?.(job),
      keepAlive: () => {
        if (racer === this.#leader) sink.keepAlive();
      },
      end: (bytes) => sink.end(bytes),
      fail: (error) => {
        racer.hasFailed = true;
        if (this.#winner !== racer && this.#leader) return;
        this.#winner = racer;
        sink.fail(error);
      },
    });
    return racer.job;
  }

  /** The job that sends keep-alives: the winner or, if there is no winner yet, the first job that has not failed. */
  get #leader(): Racer | undefined {
    return this.#winner ?? this.#racers.find(({ hasFailed }) => !hasFailed);
  }

  #win(racer: Racer): void {
    this.#winner = racer;
    this.#stopChecking();
    for (const { job } of this.#racers) if (job && job !== racer.job) this.#parts.dispatcher.cancel(job);
  }

  /** Dispatches the second job if the first job is late. Otherwise schedules a check for the time at which the first job will be late. */
  #checkFirst({ state, attempt, attempts }: Job): void {
    const isWaiting = state === 'queued' || state === 'claimed';
    const [first] = this.#racers;
    // A job with several attempts has failed at another worker. It is not slow, and it must not fail at two more workers at once.
    if (!first?.job || this.#body === undefined || !isWaiting || attempts > 1) return this.#stopChecking();
    if (!attempt) return this.#checkFirstIn(checkMs, first.job);
    const lateMs = this.#parts.hedges.findLateMs(attempt.placement);
    if (lateMs === undefined) return this.#stopChecking();
    const leftMs = attempt.assignedAt + lateMs - performance.now();
    if (leftMs > 0) return this.#checkFirstIn(leftMs, first.job);
    const body = this.#body;
    this.#stopChecking();
    this.#hedge(body, attempt.worker);
  }

  #checkFirstIn(ms: number, first: Job): void {
    this.#timer = setTimeout(() => this.#checkFirst(first), Math.ceil(ms));
  }

  #stopChecking(): void {
    clearTimeout(this.#timer);
    this.#body = undefined;
  }

  #hedge(body: Buffer, slowWorker: LiveWorker): void {
    const { hedges, name } = this.#parts;
    const avoidedIds = new Set([slowWorker.id]);
    if (chooseWorker(this.#request.findPlacements(avoidedIds), undefined, avoidedIds) && hedges.spend(name))
      this.#dispatch({ ...this.#request, avoid: slowWorker }, body);
  }

  async #finish(first: Job): Promise<JobReport> {
    const { hedges } = this.#parts;
    const firstReport = await first.finished;
    this.#stopChecking();
    const second = this.#racers[1]?.job;
    const secondReport = second && (await second.finished);
    const hasWon = second !== undefined && this.#winner?.job === second;
    if (secondReport) hedges.counts[hasWon && secondReport.state === 'done' ? 'won' : 'lost'] += 1;
    // A first job that was cancelled because the second job won would have taken even longer.
    const firstByteAt = firstReport.firstByteAt ?? (hasWon ? secondReport?.firstByteAt : undefined);
    if (firstReport.attempt && firstReport.claimedAt !== undefined && firstByteAt !== undefined)
      hedges.countFirstToken(firstReport.attempt.placement, firstByteAt - firstReport.claimedAt);
    const timeline = [...firstReport.timeline, ...(secondReport?.timeline ?? [])];
    return {
      ...(hasWon && secondReport ? { ...secondReport, queuedAt: firstReport.queuedAt } : firstReport),
      timeline,
    };
  }
}
