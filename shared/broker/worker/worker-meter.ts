import type { ErrorCode } from '#shared/core/errors.ts';
import type { Operation } from '#shared/core/operation.ts';
import type { ClaimOutcome } from './claimer.ts';

/** A job that is over, as its worker saw it. */
export interface MeteredJob {
  format: string;
  operation: Operation;
  model: string;
  outcome: 'done' | 'failed' | 'cancelled';
  /** The error that its ingress was told. */
  code?: ErrorCode | undefined;
  /** Milliseconds from the grant to the end. */
  ms: number;
}

/** Who counts what a worker does. Each call costs no more than a few additions. */
export interface WorkerMeter {
  /** What came of a ticket, and the milliseconds since it was taken. */
  claimed(outcome: ClaimOutcome['kind'], ms: number): void;
  /** What it said to a job that it was offered without a ticket. */
  offered(outcome: 'taken' | 'refused'): void;
  finished(job: MeteredJob): void;
  /** The worker stopped taking jobs because of what is behind it. */
  paused(): void;
}
