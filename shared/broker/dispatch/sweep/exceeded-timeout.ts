import { RouterError } from '#shared/core/errors.ts';
import type { Attempt } from '../attempt.ts';
import type { Job } from '../job.ts';
import { computeRetryAfter } from '../queue/drain-rate.ts';

/** Maximum milliseconds of each kind of wait. */
export interface Timeouts {
  /** The wait in the queue until a worker claims the job. */
  queueMs: number;
  /** The wait in the queue while no live worker can serve the job (a worker may be starting). */
  noWorkerMs: number;
  /** The time from the claim or offer to the first piece of a streamed answer. */
  firstTokenMs: number;
  idleMs: number;
  totalMs: number;
  /** The time without any frame, keep-alives included, after which the worker counts as lost. */
  silenceMs: number;
  /** The time without a connection to the broker. */
  brokerMs: number;
}

export type TimedJob = Pick<Job, 'state' | 'isOver' | 'queuedAt' | 'waitingSince' | 'noWorkerSince'> & {
  readonly request: Pick<Job['request'], 'stream' | 'maxWaitMs' | 'whyUnplaced'>;
  readonly attempt: Pick<Attempt, 'claimedAt' | 'lastFrameAt' | 'lastDataAt'> | undefined;
};

/**
 * Returns the timeout that a job has exceeded, as the client's error; `lost` if the job's worker fell silent; undefined if no timeout is
 * exceeded or the job has ended.
 * @param disconnectedSince when the connection to the broker was lost; undefined while it is up. During an outage silence proves nothing
 * about the worker, and the outage has a timeout of its own
 * @param expectedWaitMs returns the milliseconds until a waiting job would be claimed, if known
 */
export function exceededTimeout<Timed extends TimedJob>(
  job: Timed,
  timeouts: Timeouts,
  now: number,
  disconnectedSince: number | undefined,
  expectedWaitMs: (job: Timed, now: number) => number | undefined,
): RouterError | 'lost' | undefined {
  if (job.isOver) return undefined;
  if (now - job.queuedAt > timeouts.totalMs) {
    return new RouterError('total_timeout', `The request took longer than ${seconds(timeouts.totalMs)} in all.`);
  }
  return job.attempt
    ? exceededInWork(job, job.attempt, timeouts, now, disconnectedSince)
    : exceededInQueue(job, timeouts, now, disconnectedSince, expectedWaitMs);
}

function exceededInWork(
  { state, request }: TimedJob,
  { claimedAt, lastFrameAt, lastDataAt }: NonNullable<TimedJob['attempt']>,
  timeouts: Timeouts,
  now: number,
  disconnectedSince: number | undefined,
): RouterError | 'lost' | undefined {
  if (disconnectedSince !== undefined) {
    return now - disconnectedSince > timeouts.brokerMs ? brokerUnavailable() : undefined;
  }
  if (now - lastFrameAt > timeouts.silenceMs) return 'lost';
  if (!request.stream) return undefined;
  if (state === 'claimed' && now - claimedAt > timeouts.firstTokenMs) {
    const message = `The model gave no first token within ${seconds(timeouts.firstTokenMs)}.`;
    return new RouterError('first_token_timeout', message);
  }
  if (state === 'streaming' && now - lastDataAt > timeouts.idleMs) {
    return new RouterError('idle_timeout', `The model gave no further token within ${seconds(timeouts.idleMs)}.`);
  }
  return undefined;
}

function exceededInQueue<Timed extends TimedJob>(
  job: Timed,
  { noWorkerMs, queueMs, brokerMs }: Timeouts,
  now: number,
  disconnectedSince: number | undefined,
  expectedWaitMs: (job: Timed, now: number) => number | undefined,
): RouterError | undefined {
  const { waitingSince, noWorkerSince, request } = job;
  const { maxWaitMs = Number.POSITIVE_INFINITY } = request;
  if (disconnectedSince !== undefined && now - Math.max(waitingSince, disconnectedSince) > brokerMs) {
    return brokerUnavailable();
  }
  if (disconnectedSince === undefined && noWorkerSince !== undefined && now - noWorkerSince > noWorkerMs) {
    const message = 'No worker that can serve this request is connected.';
    return request.whyUnplaced?.() ?? new RouterError('no_worker_available', message, { retryAfter: 10 });
  }
  if (now - waitingSince > maxWaitMs) {
    const message = `No worker was free within the ${seconds(maxWaitMs)} that the client waits.`;
    return new RouterError('overloaded', message, { retryAfter: computeRetryAfter(expectedWaitMs(job, now)) });
  }
  if (now - waitingSince > queueMs) {
    const retryAfter = computeRetryAfter(expectedWaitMs(job, now));
    return new RouterError('queue_timeout', `No worker was free within ${seconds(queueMs)}.`, { retryAfter });
  }
  return undefined;
}

function brokerUnavailable(): RouterError {
  return new RouterError('broker_unavailable', 'The router cannot reach its message broker.', { retryAfter: 5 });
}

function seconds(ms: number): string {
  return `${ms / 1000} seconds`;
}
