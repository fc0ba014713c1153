import type { ErrorCode } from '#shared/core/errors.ts';
import { attributeNames as names } from '#shared/core/tracing/attribute-names.ts';
import type { TraceContext, TraceSpan } from '#shared/core/tracing/tracing.ts';
import type { Attempt } from './attempt.ts';

/** What of a job its trace shows. */
interface TracedJob {
  readonly id: string;
  readonly attempts: number;
  readonly waitingSince: number;
  readonly attempt: Pick<Attempt, 'worker' | 'placement'> | undefined;
}

/**
 * A job in its request's trace: a span for each attempt, from the queue to its end, and in it one for the wait in the queue,
 * which the worker's own span hangs on. An attempt whose worker dies is known from its ingress alone.
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

  /** The job is offered or granted to a worker. @returns the trace context for the worker */
  claimed(job: TracedJob, { worker, isOffered }: Attempt): TraceContext {
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

  /** The attempt is over, and the job goes back to the queue. */
  lost(reason: ErrorCode): void {
    this.#attempt?.fail(reason);
    this.#attempt?.end();
    this.#attempt = undefined;
  }

  /** The attempt goes on with a stream that an earlier one began. */
  continued(): void {
    this.#attempt?.set({ 'rtr.continued': true });
  }

  /** The worker refuses the offered job: this was no attempt. */
  refused(): void {
    this.#attempt?.rename('refused offer');
    this.#attempt?.end();
    this.#attempt = undefined;
  }

  /** The job is over. One that was waiting has a last attempt that no worker took. */
  over(job: TracedJob, problem: ErrorCode | 'cancelled' | undefined): void {
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
