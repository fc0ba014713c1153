import type { ErrorCode } from '#shared/core/errors.ts';
import type { Operation } from '#shared/core/operation.ts';
import type { ClaimOutcome } from './claimer.ts';

/** A job that is over, from its worker's view. */
export interface MeteredJob {
  format: string;
  operation: Operation;
  model: string;
  outcome: 'done' | 'failed' | 'cancelled';
  /** The error that its ingress got. */
  code?: ErrorCode | undefined;
  /** Milliseconds from the grant to the end. */
  ms: number;
}

/** Counts what a worker does. Each call costs no more than a few additions. */
export interface WorkerMeter {
  /** What came of a ticket, and the milliseconds since it was taken. */
  claimed(outcome: ClaimOutcome['kind'], ms: number): void;
  /** The worker's answer to an offer. */
  offered(outcome: 'taken' | 'refused'): void;
  finished(job: MeteredJob): void;
  /** The worker stopped taking jobs because of its upstream. */
  paused(): void;
}
