import type { ErrorCode } from '#shared/core/errors.ts';
import { attributeNames as names } from '#shared/core/tracing/attribute-names.ts';
import type { TraceContext, TraceSpan } from '#shared/core/tracing/tracing.ts';
import type { Attempt } from './attempt.ts';

interface TracedJob {
  readonly id: string;
  readonly attempts: number;
  readonly waitingSince: number;
  readonly attempt: Pick<Attempt, 'worker' | 'placement'> | undefined;
}

/**
 * Traces a job within its request's trace. Each attempt has a span from the queue to the attempt's end. In it is a span for the wait in the
 * queue, which is the parent of the worker's own span. An attempt whose worker dies appears only through the dispatcher's span.
 */
export class JobTrace {
  readonly #request: TraceSpan;
  #attempt: TraceSpan | undefined;

  constructor(request: TraceSpan) {
    this.#request = request;
  }

  get traceId(): string {
    return this.#request.traceId;
  }

  /**
   * Begins the span of an attempt.
   * @returns the trace context for the worker
   */
  beginAttempt(job: TracedJob, { worker, isOffered }: Attempt): TraceContext {
    this.#attempt = this.#begin(job);
    const { tier, pool } = worker.pool;
    const to = isOffered ? 'offer' : 'jobs';
    const queued = this.#attempt.child(`publish ${to}.${tier}`, 'producer', {
      startedAt: job.waitingSince,
      attributes: {
        [names.messagingSystem]: 'nats',
        [names.messagingDestination]: `${to}.${tier}.${pool}`,
        [names.messagingOperation]: 'publish',
        [names.messagingOperationType]: 'send',
        [names.messageId]: job.id,
      },
    });
    queued.end();
    return queued.context;
  }

  /** Ends the span of an attempt after which the job goes back to the queue. */
  lost(reason: ErrorCode): void {
    this.#attempt?.fail(reason);
    this.#attempt?.end();
    this.#attempt = undefined;
  }

  markContinued(): void {
    this.#attempt?.set({ 'rtr.continued': true });
  }

  /** Ends the span of a refused offer, which does not count as an attempt. */
  refused(): void {
    this.#attempt?.rename('refused offer');
    this.#attempt?.end();
    this.#attempt = undefined;
  }

  /** Ends the trace of the job. A job that still waited gets a last attempt that no worker took. */
  end(job: TracedJob, problem: ErrorCode | 'cancelled' | undefined): void {
    const attempt = this.#attempt ?? this.#begin(job);
    if (problem !== undefined) attempt.fail(problem);
    attempt.end();
  }

  #begin({ attempts, waitingSince, attempt }: TracedJob): TraceSpan {
    const { id: worker, announcement } = attempt?.worker ?? {};
    return this.#request.child('attempt', 'internal', {
      startedAt: waitingSince,
      attributes: {
        'rtr.attempt': attempts,
        'rtr.worker': worker,
        'rtr.tier': announcement?.tier,
        'rtr.model': attempt?.placement.model,
      },
    });
  }
}
