import { RouterError } from '#shared/core/errors.ts';
import type { Attempt } from '../attempt.ts';
import type { Job } from '../job.ts';
import { computeRetryAfter } from '../queue/drain-rate.ts';

/** The maximum milliseconds of each kind of wait. */
export interface Timeouts {
  /** The wait in the queue until a worker claims the job. */
  queueMs: number;
  /** The wait in the queue while no live worker can serve the job. A worker may be starting. */
  noWorkerMs: number;
  /** The time from the claim or offer to the first piece of a streamed answer. */
  firstTokenMs: number;
  /** The time without a further piece of a streamed answer. */
  idleMs: number;
  /** The time from the arrival of the request to the end of the answer. */
  totalMs: number;
  /** The time without any frame, keep-alives included, after which the worker counts as lost. */
  silenceMs: number;
  /** The time without a connection to the broker, after which waiting and running jobs fail. */
  brokerMs: number;
}

/** The fields of a job that its timeouts read. */
export type TimedJob = Pick<Job, 'state' | 'isOver' | 'queuedAt' | 'waitingSince' | 'noWorkerSince'> & {
  readonly request: Pick<Job['request'], 'stream' | 'maxWaitMs' | 'explainUnplaced'>;
  readonly attempt: Pick<Attempt, 'assignedAt' | 'lastFrameAt' | 'lastDataAt'> | undefined;
};

/**
 * Finds the timeout that a job has exceeded.
 * @param disconnectedSince when the connection to the broker was lost; undefined while the connection is up. During an outage, the silence
 * of a worker proves nothing, and the outage has a timeout of its own
 * @param estimateWaitMs returns the expected milliseconds until a waiting job is claimed; undefined if unknown
 * @returns the error that the client gets; `lost` if the job's worker has fallen silent; undefined if no timeout is exceeded or the job has
 * ended
 */
export function findExceededTimeout<Timed extends TimedJob>(
  job: Timed,
  timeouts: Timeouts,
  now: number,
  disconnectedSince: number | undefined,
  estimateWaitMs: (job: Timed, now: number) => number | undefined,
): RouterError | 'lost' | undefined {
  if (job.isOver) return undefined;
  if (now - job.queuedAt > timeouts.totalMs) {
    return new RouterError('total_timeout', `The request took longer than ${formatSeconds(timeouts.totalMs)} in all.`);
  }
  return job.attempt
    ? findExceededAtWorker(job, job.attempt, timeouts, now, disconnectedSince)
    : findExceededInQueue(job, timeouts, now, disconnectedSince, estimateWaitMs);
}

function findExceededAtWorker(
  { state, request }: TimedJob,
  { assignedAt, lastFrameAt, lastDataAt }: NonNullable<TimedJob['attempt']>,
  timeouts: Timeouts,
  now: number,
  disconnectedSince: number | undefined,
): RouterError | 'lost' | undefined {
  if (disconnectedSince !== undefined) {
    return now - disconnectedSince > timeouts.brokerMs ? createBrokerError() : undefined;
  }
  if (now - lastFrameAt > timeouts.silenceMs) return 'lost';
  if (!request.stream) return undefined;
  if (state === 'claimed' && now - assignedAt > timeouts.firstTokenMs) {
    const message = `The model gave no first token within ${formatSeconds(timeouts.firstTokenMs)}.`;
    return new RouterError('first_token_timeout', message);
  }
  if (state === 'streaming' && now - lastDataAt > timeouts.idleMs) {
    return new RouterError('idle_timeout', `The model gave no further token within ${formatSeconds(timeouts.idleMs)}.`);
  }
  return undefined;
}

function findExceededInQueue<Timed extends TimedJob>(
  job: Timed,
  { noWorkerMs, queueMs, brokerMs }: Timeouts,
  now: number,
  disconnectedSince: number | undefined,
  estimateWaitMs: (job: Timed, now: number) => number | undefined,
): RouterError | undefined {
  const { waitingSince, noWorkerSince, request } = job;
  const { maxWaitMs = Number.POSITIVE_INFINITY } = request;
  if (disconnectedSince !== undefined && now - Math.max(waitingSince, disconnectedSince) > brokerMs) {
    return createBrokerError();
  }
  if (disconnectedSince === undefined && noWorkerSince !== undefined && now - noWorkerSince > noWorkerMs) {
    const message = 'No worker that can serve this request is connected.';
    return request.explainUnplaced?.() ?? new RouterError('no_worker_available', message, { retryAfter: 10 });
  }
  if (now - waitingSince > maxWaitMs) {
    const message = `No worker was free within the ${formatSeconds(maxWaitMs)} that the client waits.`;
    return new RouterError('overloaded', message, { retryAfter: computeRetryAfter(estimateWaitMs(job, now)) });
  }
  if (now - waitingSince > queueMs) {
    const retryAfter = computeRetryAfter(estimateWaitMs(job, now));
    return new RouterError('queue_timeout', `No worker was free within ${formatSeconds(queueMs)}.`, { retryAfter });
  }
  return undefined;
}

function createBrokerError(): RouterError {
  return new RouterError('broker_unavailable', 'The router cannot reach its message broker.', { retryAfter: 5 });
}

function formatSeconds(ms: number): string {
  return `${ms / 1000} seconds`;
}
