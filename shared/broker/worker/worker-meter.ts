import type { ErrorCode } from '#shared/core/errors.ts';
import type { Operation } from '#shared/core/operation.ts';
import type { ClaimOutcome } from './claimer.ts';

/** A job that has ended, as its worker measures it. */
export interface MeteredJob {
  format: string;
  operation: Operation;
  model: string;
  outcome: 'done' | 'failed' | 'cancelled';
  /** The error that its dispatcher got. */
  code?: ErrorCode | undefined;
  /** Milliseconds from the grant to the end. */
  ms: number;
}

/** Counts what a worker does. Each call costs no more than a few additions. */
export interface WorkerMeter {
  /** Counts the outcome of a claim, and the milliseconds since the worker sent it. */
  claimed(outcome: ClaimOutcome['kind'], ms: number): void;
  offered(outcome: 'taken' | 'refused'): void;
  finished(job: MeteredJob): void;
  paused(): void;
}
