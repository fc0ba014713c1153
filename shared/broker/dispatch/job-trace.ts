import type { ErrorCode } from '#shared/core/errors.ts';
import { attributeNames as names } from '#shared/core/tracing/attribute-names.ts';
import type { TraceContext, TraceSpan } from '#shared/core/tracing/tracing.ts';
import type { Attempt } from './attempt.ts';

/** The attempts of a job, see `JobAttempts`. */
interface TracedAttempts {
  /** The job's id. */
  readonly id: string;
  readonly count: number;
  readonly waitingSince: number;
  readonly current: Pick<Attempt, 'worker' | 'placement'> | undefined;
}

/**
 * Traces a job within its request's trace. Each attempt has a span from the beginning of its wait in the queue to its end. A child of that
 * span covers the wait, and is the parent of the worker's own span. If the worker dies, the trace has only the dispatcher's spans of the
 * attempt.
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
   * Begins the span of an attempt, and ends the span of its wait in the queue.
   * @returns the trace context for the worker
   */
  beginAttempt(attempts: TracedAttempts, { worker, isOffered }: Attempt): TraceContext {
    this.#attempt = this.#beginSpan(attempts);
    const { tier, pool } = worker.pool;
    const to = isOffered ? 'offer' : 'jobs';
    const queueSpan = this.#attempt.child(`publish ${to}.${tier}`, 'producer', {
      startedAt: attempts.waitingSince,
      attributes: {
        [names.messagingSystem]: 'nats',
        [names.messagingDestination]: `${to}.${tier}.${pool}`,
        [names.messagingOperation]: 'publish',
        [names.messagingOperationType]: 'send',
        [names.messageId]: attempts.id,
      },
    });
    queueSpan.end();
    return queueSpan.context;
  }

  /** Ends the span of an attempt after which the job goes back to the queue. */
  endLostAttempt(reason: ErrorCode): void {
    this.#attempt?.fail(reason);
    this.#attempt?.end();
    this.#attempt = undefined;
  }

  /** Marks the attempt as one that continues a stream. */
  markContinued(): void {
    this.#attempt?.set({ 'rtr.continued': true });
  }

  /** Ends the span of a refused offer, which does not count as an attempt. */
  endRefusedOffer(): void {
    this.#attempt?.rename('refused offer');
    this.#attempt?.end();
    this.#attempt = undefined;
  }

  /** Ends the trace of the job. If the job still waited, adds a span for an attempt without a worker. */
  end(attempts: TracedAttempts, problem: ErrorCode | 'cancelled' | undefined): void {
    const attempt = this.#attempt ?? this.#beginSpan(attempts);
    if (problem !== undefined) attempt.fail(problem);
    attempt.end();
  }

  #beginSpan({ count, waitingSince, current }: TracedAttempts): TraceSpan {
    const { id: worker, announcement } = current?.worker ?? {};
    return this.#request.child('attempt', 'internal', {
      startedAt: waitingSince,
      attributes: {
        'rtr.attempt': count,
        'rtr.worker': worker,
        'rtr.tier': announcement?.tier,
        'rtr.model': current?.placement.model,
      },
    });
  }
}
