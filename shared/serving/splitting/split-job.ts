import type { Dispatcher } from '#shared/broker/dispatch/dispatcher.ts';
import type { Job } from '#shared/broker/dispatch/job.ts';
import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import type { JobSink } from '#shared/broker/dispatch/job-sink.ts';
import type { JobRequest } from '#shared/broker/dispatch/job-request.ts';
import { countFreeSlots, noWorkers, type Placement } from '#shared/broker/dispatch/workers/live-pool.ts';
import { type RouterError, toRouterError } from '#shared/core/errors.ts';
import type { Json } from '#shared/core/json.ts';
import { addUsage, noUsage } from '#shared/core/usage.ts';
import type { DivisibleRequest } from '#shared/formats/client-format.ts';
import type { JobDispatcher } from '../run-job.ts';

const maxPartsAtOnce = 16;

/** Approximate maximum of parts of one request at one worker: one part that the worker serves, and one part on its way. */
const maxPartsPerWorker = 2;

interface WholeSink extends JobSink {
  hold?(bytes: number, bound: 'owner'): void;
}

export interface SplitDependencies {
  dispatcher: Pick<Dispatcher, 'dispatch' | 'cancel'>;
  divisible: DivisibleRequest;
  /** Fields that the registry adds to requests. */
  defaults: Readonly<Record<string, Json>>;
}

/** Returns a dispatcher that splits a request into parts; undefined if the request is not worth splitting. */
export function createSplitDispatcher(
  dispatcher: SplitDependencies['dispatcher'],
  divisible: DivisibleRequest | undefined,
  defaults: SplitDependencies['defaults'],
): JobDispatcher<SplitJob> | undefined {
  if (!divisible || !isWorthSplitting(divisible.inputs)) return undefined;
  return {
    dispatch: (...args) => new SplitJob({ dispatcher, divisible, defaults }, ...args),
    cancel: (split) => split.cancel(),
    fail: (split, error) => split.fail(error),
  };
}

/**
 * Serves a request with many inputs as several jobs (parts) of a few inputs each, so that all free workers of a model share the request.
 * Each part may move to another worker by itself. The same model serves all parts, because vectors of two models cannot be compared. The
 * client gets the joined answers, in order, and the request is recorded once.
 * States: running → done, failed (a part has failed) or cancelled. In the last two states, the remaining parts are cancelled.
 */
export class SplitJob {
  /** Resolves with the request's report once all parts have ended. */
  readonly finished: Promise<JobReport>;
  readonly #dependencies: SplitDependencies;
  readonly #request: JobRequest;
  readonly #sink: WholeSink;
  readonly #partSize: number;
  readonly #queuedAt = performance.now();
  readonly #running = new Set<Job>();
  readonly #answers: Buffer[] = [];
  readonly #reports: JobReport[] = [];
  readonly #resolve: (report: JobReport) => void;
  #state: 'running' | 'done' | 'failed' | 'cancelled' = 'running';
  #error: RouterError | undefined;
  /** The index of the first input that has not been dispatched. */
  #nextInput = 0;
  /** The number of dispatched parts. */
  #partCount = 0;
  /** The model that serves all parts; undefined until it is known. */
  #model: Pick<Placement, 'model' | 'pool'> | undefined;

  constructor(dependencies: SplitDependencies, request: JobRequest, body: Buffer, sink: WholeSink) {
    this.#dependencies = dependencies;
    this.#request = request;
    this.#sink = sink;
    const { promise, resolve } = Promise.withResolvers<JobReport>();
    this.finished = promise;
    this.#resolve = resolve;
    const placements = request.findPlacements(noWorkers);
    this.#model = placements.find(({ pool, model }) => countFreeSlots(pool, model) > 0) ?? placements[0];
    this.#partSize = computePartSize(dependencies.divisible.inputs, body.length, this.#sumFreeSlots());
    this.#dispatchParts();
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
    for (const job of this.#running) this.#dependencies.dispatcher.cancel(job);
  }

  /** Dispatches parts as long as workers are free. Without a free worker, one part waits in the queue. */
  #dispatchParts(): void {
    const { inputs } = this.#dependencies.divisible;
    while (this.#state === 'running' && this.#nextInput < inputs && this.#mayDispatchPart()) this.#dispatch();
    if (this.#running.size === 0) this.#finish();
  }

  #mayDispatchPart(): boolean {
    const { size } = this.#running;
    if (size === 0) return true;
    // The first part determines the model.
    if (!this.#model || size >= maxPartsAtOnce) return false;
    const workers = new Set(this.#findPartPlacements(noWorkers).flatMap(({ pool }) => [...pool.workers]));
    return size < workers.size * maxPartsPerWorker && this.#sumFreeSlots() > 0;
  }

  #dispatch(): void {
    const { dispatcher, divisible, defaults } = this.#dependencies;
    const [from, position] = [this.#nextInput, this.#partCount];
    this.#nextInput = Math.min(divisible.inputs, from + this.#partSize);
    this.#partCount += 1;
    const part = { ...this.#request, findPlacements: (avoid: ReadonlySet<string>) => this.#findPartPlacements(avoid) };
    const job = dispatcher.dispatch(part, divisible.part(defaults, from, this.#nextInput), {
      begin: () => undefined,
      data: () => undefined,
      keepAlive: () => undefined,
      end: (bytes) => this.#keepAnswer(position, bytes),
      fail: (error) => this.fail(error),
    });
    this.#running.add(job);
    void job.finished.then((report) => this.#onPartEnd(job, report));
  }

  #onPartEnd(job: Job, report: JobReport): void {
    this.#running.delete(job);
    this.#reports.push(report);
    this.#model ??= report.attempt?.placement;
    if (this.#nextInput >= this.#dependencies.divisible.inputs && this.#running.size === 0 && this.#state === 'running')
      this.#sendAnswer(job);
    this.#dispatchParts();
  }

  #keepAnswer(position: number, bytes: Uint8Array): void {
    try {
      this.#sink.hold?.(bytes.length, 'owner');
      this.#answers[position] = Buffer.from(bytes);
    } catch (error) {
      this.fail(toRouterError(error));
    }
  }

  /** @param last the part that ended last. The headers of the answer name its worker */
  #sendAnswer(last: Job): void {
    try {
      const joinedAnswer = this.#dependencies.divisible.join(this.#answers, this.#sumUsage());
      this.#sink.begin(last);
      this.#sink.end(joinedAnswer);
      this.#state = 'done';
    } catch (error) {
      this.fail(toRouterError(error));
    }
  }

  /** Returns the placements of a part: the placements of the request with the model and tier of the other parts. */
  #findPartPlacements(avoid: ReadonlySet<string>): Placement[] {
    const placements = this.#request.findPlacements(avoid);
    const chosenModel = this.#model;
    if (!chosenModel) return placements;
    return placements.filter(({ model, pool }) => model === chosenModel.model && pool.tier === chosenModel.pool.tier);
  }

  #sumFreeSlots(): number {
    return this.#findPartPlacements(noWorkers).reduce(
      (sum, { pool, model }) => sum + Math.max(0, countFreeSlots(pool, model)),
      0,
    );
  }

  #sumUsage() {
    return this.#reports.reduce((sum, { end }) => (end ? addUsage(sum, end.usage) : sum), noUsage);
  }

  /**
   * Resolves `finished`. If the client has left, the report contains the usage of the complete parts. If the request has failed, the report
   * contains no usage.
   */
  #finish(): void {
    const reports = this.#reports;
    const state = this.#state === 'running' ? 'failed' : this.#state;
    const claimTimes = reports.flatMap(({ claimedAt }) => claimedAt ?? []);
    const endedAt = performance.now();
    this.#resolve({
      state,
      attempts: reports.reduce((sum, { attempts }) => sum + attempts, 0),
      moves: reports.flatMap(({ moves }) => moves),
      continuations: [],
      queuedAt: this.#queuedAt,
      claimedAt: claimTimes.length > 0 ? Math.min(...claimTimes) : undefined,
      firstByteAt: state === 'done' ? endedAt : undefined,
      endedAt,
      attempt: (reports.findLast(({ end }) => end) ?? reports.at(-1))?.attempt,
      timeline: reports.flatMap(({ timeline }) => timeline).sort((a, b) => a.assignedAt - b.assignedAt),
      answerBytes: reports.reduce((sum, { answerBytes }) => sum + answerBytes, 0),
      end: state === 'failed' ? undefined : { usage: this.#sumUsage(), finishReason: 'stop' },
      error: this.#error,
    });
  }
}

/** Minimum inputs of a part. Fewer inputs would cost more to dispatch than to serve. */
const minInputs = 16;

/** Maximum inputs of a part. If a worker dies, at most this many inputs per part are served again. */
const maxInputs = 256;

/** Approximate maximum bytes of a part's body. A body of up to 512 KiB can be offered to a worker without a ticket. */
const maxBytes = 256 * 1024;

/** Whether a request has enough inputs for at least two parts. */
export function isWorthSplitting(inputs: number): boolean {
  return inputs >= 2 * minInputs;
}

/**
 * Computes the number of inputs in each part of a request. Aims at one part per free slot, within the limits for a part.
 * @param bytes bytes of the whole body
 * @param freeSlots number of slots that are free now
 */
export function computePartSize(inputs: number, bytes: number, freeSlots: number): number {
  const evenSize = Math.ceil(inputs / Math.max(1, freeSlots));
  const sizeByBytes = Math.max(1, Math.floor((maxBytes * inputs) / Math.max(1, bytes)));
  return Math.min(Math.max(minInputs, Math.min(evenSize, maxInputs)), sizeByBytes);
}
