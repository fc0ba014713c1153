import type { Reservation } from '#shared/accounts/limits/limit-keeper.ts';
import type { RouterError } from '#shared/core/errors.ts';
import type { Job } from '#shared/broker/dispatch/job.ts';
import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import type { JobSink } from '#shared/broker/dispatch/job-sink.ts';
import type { JobRequest } from '#shared/broker/dispatch/job-request.ts';
import type { Caller } from './caller.ts';

export interface RunningRequest {
  /** Cancels the request because its caller has left. */
  cancel: () => void;
  /** Fails the request because its answer cannot be processed. Does nothing if the request has ended. */
  fail: (error: RouterError) => void;
  /** Resolves when the request has ended, with any outcome, and is recorded. */
  finished: Promise<void>;
}

/** Dispatches requests: the dispatcher itself, or a wrapper that hedges or splits a request. */
export interface JobDispatcher<Dispatched> {
  dispatch(request: JobRequest, body: Buffer, sink: JobSink): Dispatched;
  cancel(job: Dispatched): void;
  fail(job: Dispatched, error: RouterError): void;
}

/**
 * Dispatches one job. Releases the reservation if the job cannot begin. Passes the reservation to `onEnd` when the job ends.
 * @returns undefined if the caller has left
 */
export function runJob<Dispatched extends Pick<Job, 'finished'>>(
  dispatcher: JobDispatcher<Dispatched>,
  request: JobRequest,
  body: Buffer,
  sink: JobSink,
  caller: Pick<Caller, 'isGone'>,
  reservation: Reservation | undefined,
  onEnd: (report: JobReport, reservation: Reservation | undefined) => void,
): RunningRequest | undefined {
  if (caller.isGone()) {
    reservation?.release();
    return undefined;
  }
  try {
    const job = dispatcher.dispatch(request, body, sink);
    return {
      cancel: () => dispatcher.cancel(job),
      fail: (error) => dispatcher.fail(job, error),
      finished: endJob(job, reservation, onEnd),
    };
  } catch (error) {
    reservation?.release();
    throw error;
  }
}

async function endJob(
  job: Pick<Job, 'finished'>,
  reservation: Reservation | undefined,
  onEnd: (report: JobReport, reservation: Reservation | undefined) => void,
): Promise<void> {
  try {
    onEnd(await job.finished, reservation);
  } finally {
    // The release has no effect on a committed reservation. If `onEnd` has failed, the reservation would otherwise be renewed as long as
    // this process lives.
    reservation?.release();
  }
}
