import type { Reservation } from '#shared/accounts/limits/limit-keeper.ts';
import type { RouterError } from '#shared/core/errors.ts';
import type { Job } from '#shared/broker/dispatch/job.ts';
import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import type { JobSink } from '#shared/broker/dispatch/job-sink.ts';
import type { JobRequest } from '#shared/broker/dispatch/job-request.ts';
import type { Caller } from './caller.ts';

/** A running request. */
export interface RunningRequest {
  /** Cancels it, because its caller is gone. */
  cancel: () => void;
  /** Fails it, because its answer cannot be taken. A request that is over is not affected. */
  fail: (error: RouterError) => void;
  /** Resolves when it is over and recorded, with any outcome. */
  finished: Promise<void>;
}

/** What dispatches a request: the dispatcher, or what hedges the request with it. */
export interface JobDispatcher<Dispatched> {
  dispatch(request: JobRequest, body: Buffer, sink: JobSink): Dispatched;
  cancel(job: Dispatched): void;
  fail(job: Dispatched, error: RouterError): void;
}

/**
 * Dispatches one job. Its reservation is released if it cannot begin, and passed to `onOver` when it ends.
 * @returns undefined if the caller is gone
 */
export function runJob<Dispatched extends Pick<Job, 'finished'>>(
  dispatcher: JobDispatcher<Dispatched>,
  request: JobRequest,
  body: Buffer,
  sink: JobSink,
  caller: Pick<Caller, 'isGone'>,
  reservation: Reservation | undefined,
  onOver: (report: JobReport, reservation: Reservation | undefined) => void,
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
      finished: end(job, reservation, onOver),
    };
  } catch (error) {
    reservation?.release();
    throw error;
  }
}

async function end(
  job: Pick<Job, 'finished'>,
  reservation: Reservation | undefined,
  onOver: (report: JobReport, reservation: Reservation | undefined) => void,
): Promise<void> {
  try {
    onOver(await job.finished, reservation);
  } finally {
    // Has no effect on a committed reservation. Without it, one whose record failed is renewed as long as this process lives.
    reservation?.release();
  }
}
