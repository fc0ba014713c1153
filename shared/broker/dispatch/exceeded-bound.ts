import { RouterError } from '#shared/core/errors.ts';
import type { Job } from './job.ts';

/** How long each kind of wait may last, in milliseconds. */
export interface Bounds {
  /** In the queue, until a worker claims the job. */
  queueMs: number;
  /** In the queue while no live worker could serve it (one may be starting). */
  noWorkerMs: number;
  /** From the claim to the first piece of a streamed answer. */
  firstTokenMs: number;
  /** Between two pieces of a streamed answer. */
  idleMs: number;
  /** From the request to its end. */
  totalMs: number;
  /** Without any frame, keep-alives included: the worker is taken for lost. */
  silenceMs: number;
}

/** The bound that a job has exceeded, as the error it means for the client; `lost` when its worker fell silent. */
export function exceededBound(
  job: Job,
  bounds: Bounds,
  now: number,
  connected: boolean,
): RouterError | 'lost' | undefined {
  if (now - job.queuedAt > bounds.totalMs) {
    return new RouterError('total_timeout', `The request took longer than ${seconds(bounds.totalMs)} in all.`);
  }
  switch (job.state) {
    case 'queued':
      return exceededInQueue(job, bounds, now, connected);
    case 'claimed':
      if (connected && now - job.lastFrameAt > bounds.silenceMs) return 'lost';
      if (job.request.stream && now - (job.claimedAt ?? now) > bounds.firstTokenMs) {
        return new RouterError(
          'first_token_timeout',
          `The model gave no first token within ${seconds(bounds.firstTokenMs)}.`,
        );
      }
      return undefined;
    case 'streaming':
      if (connected && now - job.lastFrameAt > bounds.silenceMs) return 'lost';
      if (now - job.lastDataAt > bounds.idleMs) {
        return new RouterError('idle_timeout', `The model gave no further token within ${seconds(bounds.idleMs)}.`);
      }
      return undefined;
    case 'done':
    case 'failed':
    case 'cancelled':
      return undefined;
  }
}

function exceededInQueue(job: Job, bounds: Bounds, now: number, connected: boolean): RouterError | undefined {
  const waited = now - job.waitingSince;
  if (!connected && waited > bounds.noWorkerMs) {
    return new RouterError('broker_unavailable', 'The router cannot reach its message broker.', { retryAfter: 5 });
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

function seconds(ms: number): string {
  return `${ms / 1000} seconds`;
}
