import { RouterError } from './errors.ts';

/**
 * Why an answer cannot be continued exactly: `refused` if its worker does not continue such ones; `mismatch` if what came would not
 * have followed on what the client has.
 */
export const continuationFailures = ['refused', 'mismatch'] as const;
export type ContinuationFailure = (typeof continuationFailures)[number];

/**
 * The error of a worker that cannot continue an answer. No other worker can do it better, and it says nothing of the worker or its
 * upstream.
 */
export class CannotContinue extends RouterError {
  override name = 'CannotContinue';
  readonly failure: ContinuationFailure;

  /** @param message for the log: the client gets the error that the stream would have ended with on its first worker */
  constructor(failure: ContinuationFailure, message: string, cause?: unknown) {
    super('invalid_request', message, { cause });
    this.failure = failure;
  }
}
