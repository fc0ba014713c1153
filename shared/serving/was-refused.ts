import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import type { ErrorCode } from '#shared/core/errors.ts';

/**
 * Error codes of refused jobs. A job is refused if the queue is full, if its wait would be too long, or if the same request has killed two
 * workers.
 */
const refusalCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['overloaded', 'workers_died']);

/** Whether a job was refused before any worker got it. A job that waited until a timeout was not refused. */
export function wasRefused({ attempts, error }: Pick<JobReport, 'attempts' | 'error'>): boolean {
  return attempts === 0 && error !== undefined && refusalCodes.has(error.code);
}
