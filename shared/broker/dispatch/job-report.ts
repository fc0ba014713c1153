import type { ErrorCode, RouterError } from '#shared/core/errors.ts';
import type { JobEnd } from '../contract/job-contract.ts';
import type { Attempt } from './attempt.ts';
import type { ContinuationOutcome } from './continuation/stream-continuation.ts';
import type { JobState } from './job-event.ts';
import type { AttemptTimes } from './job-timeline.ts';

/** What happened to a job, once it has ended. Times are milliseconds of `performance.now()`. */
export interface JobReport {
  state: JobState;
  attempts: number;
  /** The errors after which the job went to another worker, oldest first. */
  moves: readonly ErrorCode[];
  continuations: readonly ContinuationOutcome[];
  queuedAt: number;
  /** When the job was granted or offered to the worker that gave the first byte; without a byte, to the last worker that had the job. */
  claimedAt: number | undefined;
  firstByteAt: number | undefined;
  endedAt: number;
  /** The attempt that the job ended in; undefined if no worker had the job then. */
  attempt: Pick<Attempt, 'worker' | 'placement'> | undefined;
  /** The attempts and refused offers, oldest first. If there were many, only the first ones and the last one. */
  timeline: readonly AttemptTimes[];
  answerBytes: number;
  end: JobEnd | undefined;
  error: RouterError | undefined;
}
