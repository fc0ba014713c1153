import { RouterError } from '#shared/core/errors.ts';
import type { Job } from './job.ts';

/** How long each kind of wait may last, in milliseconds. */
export interface Bounds {
  /** In the queue, until a worker claims the job. */
  queueMs: number;
  /** In the queue while no live worker could serve it (one may be starting). */
  noWorkerMs: number;
  /** From the claim or offer to the first piece of a streamed answer. */
  firstTokenMs: number;
  /** Between two pieces of a streamed answer. */
  idleMs: number;
  /** From the request to its end. */
  totalMs: number;
  /** Without any frame, keep-alives included: the worker is taken for lost. */
  silenceMs: number;
}

/**
 * The bound that a job has exceeded, as the error it means for the client; `lost` when its worker fell silent.
 * @param disconnectedSince when the connection to the broker was lost, while it is. Silence then says nothing about the
 * worker, and a short outage ends no job.
 */
export function exceededBound(
  job: Job,
  bounds: Bounds,
  now: number,
  disconnectedSince: number | undefined,
): RouterError | 'lost' | undefined {
  if (now - job.queuedAt > bounds.totalMs) {
    return new RouterError('total_timeout', `The request took longer than ${seconds(bounds.totalMs)} in all.`);
  }
  if (job.state === 'queued') return exceededInQueue(job, bounds, now, disconnectedSince);
  return job.isOver ? undefined : exceededInWork(job, bounds, now, disconnectedSince);
}

function exceededInWork(
  job: Job,
  bounds: Bounds,
  now: number,
  disconnectedSince: number | undefined,
): RouterError | 'lost' | undefined {
  if (now - Math.max(job.lastFrameAt, disconnectedSince ?? 0) > bounds.silenceMs) {
    return disconnectedSince === undefined ? 'lost' : brokerUnavailable();
  }
  if (!job.request.stream) return undefined;
  if (job.state === 'claimed' && now - (job.claimedAt ?? now) > bounds.firstTokenMs) {
    const message = `The model gave no first token within ${seconds(bounds.firstTokenMs)}.`;
    return new RouterError('first_token_timeout', message);
  }
  if (job.state === 'streaming' && now - job.lastDataAt > bounds.idleMs) {
    return new RouterError('idle_timeout', `The model gave no further token within ${seconds(bounds.idleMs)}.`);
  }
  return undefined;
}

function exceededInQueue(
  job: Job,
  bounds: Bounds,
  now: number,
  disconnectedSince: number | undefined,
): RouterError | undefined {
  const waited = now - job.waitingSince;
  if (disconnectedSince !== undefined && now - Math.max(job.waitingSince, disconnectedSince) > bounds.noWorkerMs) {
    return brokerUnavailable();
  }
  if (job.noWorkerSince !== undefined && now - job.noWorkerSince > bounds.noWorkerMs) {
    return new RouterError('no_worker_available', 'No worker that can serve this request is connected.', {
      retryAfter: 10,
    });
  }
  if (waited > bounds.queueMs) {
    return new RouterError('queue_timeout', `No worker was free within ${seconds(bounds.queueMs)}.`, {
      retryAfter: 10,
    });
  }
  return undefined;
}

function brokerUnavailable(): RouterError {
  return new RouterError('broker_unavailable', 'The router cannot reach its message broker.', { retryAfter: 5 });
}

function seconds(ms: number): string {
  return `${ms / 1000} seconds`;
}
