import type { ErrorCode } from '#shared/core/errors.ts';
import type { Operation } from '#shared/core/operation.ts';

/**
 * How a claim ended. `gone`, `taken` and `later` are answers of the dispatcher (see `ClaimAnswer`), after which the worker has nothing more
 * to do. `full` means that the worker has no memory for the body. `silent` means that the dispatcher did not answer in time, or did not
 * complete the body.
 */
export type ClaimEnd = 'grant' | 'gone' | 'taken' | 'later' | 'full' | 'silent';

/** A worker's measurements of an ended job. */
export interface MeteredJob {
  format: string;
  operation: Operation;
  model: string;
  outcome: 'done' | 'failed' | 'cancelled';
  /** The code of the error that the dispatcher got. */
  code?: ErrorCode | undefined;
  /** Milliseconds from the grant or the accepted offer to the end. */
  ms: number;
}

/** Counts the claims, offers, jobs and stops of a worker. Each call costs no more than a few additions. */
export interface WorkerMeter {
  /** Counts a claim that has ended, with the milliseconds since the worker took its ticket. */
  countClaim(outcome: ClaimEnd, ms: number): void;
  /** Counts an offer, which the worker has accepted (`taken`) or refused. */
  countOffer(outcome: 'taken' | 'refused'): void;
  countJob(job: MeteredJob): void;
  /** Counts that the worker has stopped taking jobs because of its upstream. */
  countStop(): void;
}
