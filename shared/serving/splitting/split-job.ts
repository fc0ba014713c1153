import type { Dispatcher } from '#shared/broker/dispatch/dispatcher.ts';
import type { Job } from '#shared/broker/dispatch/job.ts';
import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import type { JobSink } from '#shared/broker/dispatch/job-sink.ts';
import type { JobRequest } from '#shared/broker/dispatch/job-request.ts';
import { countFreeSlots, noWorkers, type Placement } from '#shared/broker/dispatch/workers/live-pool.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { Json } from '#shared/core/json.ts';
import { addUsage, noUsage } from '#shared/core/usage.ts';
import type { DivisibleRequest } from '#shared/formats/divisible-request.ts';
import type { JobDispatcher } from '../run-job.ts';
import { isWorthSplitting, computePartSize } from './part-size.ts';

const maxAtOnce = 16;

/** Approximate maximum parts of one request at one worker: one that it serves, and one on its way. */
const maxPerWorker = 2;

interface WholeSink extends JobSink {
  hold?(bytes: number): void;
}

export interface SplitParts {
  dispatcher: Pick<Dispatcher, 'dispatch' | 'cancel'>;
  divisible: DivisibleRequest;
  /** Fields that the registry adds to requests. */
  defaults: Readonly<Record<string, Json>>;
}

/** Returns a dispatcher that splits a request into parts; undefined if the request is not worth splitting. */
export function createSplitDispatcher(
  dispatcher: SplitParts['dispatcher'],
  divisible: DivisibleRequest | undefined,
  defaults: SplitParts['defaults'],
): JobDispatcher<SplitJob> | undefined {
  if (!divisible || !isWorthSplitting(divisible.inputs)) return undefined;
  return {
    dispatch: (...args) => new SplitJob({ dispatcher, divisible, defaults }, ...args),
    cancel: (split) => split.cancel(),
    fail: (split, error) => split.fail(error),
  };
}

/**
 * Serves a request with many inputs as jobs of a few inputs each, so that all free workers of a model share it. Each part may move to
 * another worker by itself. The same model serves all parts, because vectors of two models cannot be compared. The client gets the
 * joined answers, in order, and the request is recorded once.
 * States: running → done, failed (a part has failed) or cancelled; then the parts that still run are cancelled.
 */
export class SplitJob {
  /** Resolves with the request's report once all its parts have ended. */
  readonly finished: Promise<JobReport>;
  readonly #parts: SplitParts;
  readonly #request: JobRequest;
  readonly #sink: WholeSink;
  readonly #size: number;
  readonly #queuedAt = performance.now();
  readonly #running = new Set<Job>();
  readonly #answers: Buffer[] = [];
  readonly #reports: JobReport[] = [];
  readonly #resolve: (report: JobReport) => void;
  #state: 'running' | 'done' | 'failed' | 'cancelled' = 'running';
  #error: RouterError | undefined;
  /** The first input that no part has yet. */
  #next = 0;
  /** The number of parts so far. */
  #count = 0;
  /** The model that serves all parts; undefined until it is known. */
  #model: Pick<Placement, 'model' | 'pool'> | undefined;

  constructor(parts: SplitParts, request: JobRequest, body: Buffer, sink: WholeSink) {
    this.#parts = parts;
    this.#request = request;
    this.#sink = sink;
    const { promise, resolve } = Promise.withResolvers<JobReport>();
    this.finished = promise;
    this.#resolve = resolve;
    const placements = request.findPlacements(noWorkers);
    this.#model = placements.find(({ pool, model }) => countFreeSlots(pool, model) > 0) ?? placements[0];
    this.#size = computePartSize(parts.divisible.inputs, body.length, this.#free());
    this.#fill();
  }

  /** Cancels all parts because the client has left. */
  cancel(): void {
    if (this.#state === 'running') this.#stop('cancelled');
  }

  /** Ends the request with an error of the client or of a part. */
  fail(error: RouterError): void {
    if (this.#state !== 'running') return;
    this.#error = error;
    this.#stop('failed');
    this.#sink.fail(error);
  }

  #stop(state: 'failed' | 'cancelled'): void {
    this.#state = state;
    for (const job of this.#running) this.#parts.dispatcher.cancel(job);
  }

  /** Dispatches parts as long as there are free workers for them; without free workers, one part waits in the queue. */
  #fill(): void {
    const { inputs } = this.#parts.divisible;
    while (this.#state === 'running' && this.#next < inputs && this.#mayHaveAnother()) this.#dispatch();
    if (this.#running.size === 0) this.#finish();
  }

  #mayHaveAnother(): boolean {
    const { size } = this.#running;
    if (size === 0) return true;
    // The first part determines the model.
    if (!this.#model || size >= maxAtOnce) return false;
    const workers = new Set(this.#place(noWorkers).flatMap(({ pool }) => [...pool.workers]));
    return size < workers.size * maxPerWorker && this.#free() > 0;
  }

  #dispatch(): void {
    const { dispatcher, divisible, defaults } = this.#parts;
    const [from, position] = [this.#next, this.#count];
    this.#next = Math.min(divisible.inputs, from + this.#size);
    this.#count += 1;
    const part = { ...this.#request, findPlacements: (avoid: ReadonlySet<string>) => this.#place(avoid) };
    const job = dispatcher.dispatch(part, divisible.part(defaults, from, this.#next), {
      begin: () => undefined,
      data: () => undefined,
      keepAlive: () => undefined,
      end: (bytes) => this.#keep(position, bytes),
      fail: (error) => this.fail(error),
    });
    this.#running.add(job);
    void job.finished.then((report) => this.#over(job, report));
  }

  #over(job: Job, report: JobReport): void {
    this.#running.delete(job);
    this.#reports.push(report);
    this.#model ??= report.attempt?.placement;
    if (this.#next >= this.#parts.divisible.inputs && this.#running.size === 0 && this.#state === 'running')
      this.#answer(job);
    this.#fill();
  }

  #keep(position: number, bytes: Uint8Array): void {
    try {
      this.#sink.hold?.(bytes.length);
      this.#answers[position] = Buffer.from(bytes);
    } catch (error) {
      this.fail(asRouterError(error));
    }
  }

  /** @param last the part that ended last; the answer's headers name its worker */
  #answer(last: Job): void {
    try {
      const whole = this.#parts.divisible.join(this.#answers, this.#usage());
      this.#sink.begin(last);
      this.#sink.end(whole);
      this.#state = 'done';
    } catch (error) {
      this.fail(asRouterError(error));
    }
  }

  /** Returns the placements of a part: those of the request, limited to the model and tier of the other parts. */
  #place(avoid: ReadonlySet<string>): Placement[] {
    const placements = this.#request.findPlacements(avoid);
    const chosen = this.#model;
    if (!chosen) return placements;
    return placements.filter(({ model, pool }) => model === chosen.model && pool.tier === chosen.pool.tier);
  }

  #free(): number {
    return this.#place(noWorkers).reduce((sum, { pool, model }) => sum + Math.max(0, countFreeSlots(pool, model)), 0);
  }

  #usage() {
    return this.#reports.reduce((sum, { end }) => (end ? addUsage(sum, end.usage) : sum), noUsage);
  }

  /**
   * Reports the end. A request that its client has left counts its complete parts; a failed request counts nothing, like one without parts.
   */
  #finish(): void {
    const reports = this.#reports;
    const state = this.#state === 'running' ? 'failed' : this.#state;
    const claims = reports.flatMap(({ claimedAt }) => claimedAt ?? []);
    const endedAt = performance.now();
    this.#resolve({
      state,
      attempts: reports.reduce((sum, { attempts }) => sum + attempts, 0),
      moves: reports.flatMap(({ moves }) => moves),
      continuations: [],
      queuedAt: this.#queuedAt,
      claimedAt: claims.length > 0 ? Math.min(...claims) : undefined,
      firstByteAt: state === 'done' ? endedAt : undefined,
      endedAt,
      attempt: (reports.findLast(({ end }) => end) ?? reports.at(-1))?.attempt,
      timeline: reports.flatMap(({ timeline }) => timeline).sort((a, b) => a.givenAt - b.givenAt),
      answerBytes: reports.reduce((sum, { answerBytes }) => sum + answerBytes, 0),
      end: state === 'failed' ? undefined : { usage: this.#usage(), finishReason: 'stop' },
      error: this.#error,
    });
  }
}

function asRouterError(error: unknown): RouterError {
  if (error instanceof RouterError) return error;
  return new RouterError('internal', 'The router failed.', { cause: error });
}
