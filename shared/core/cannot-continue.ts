import { RouterError } from './errors.ts';

/**
 * The reason why another worker cannot continue an answer exactly: `refused` if that worker does not continue answers of this kind;
 * `mismatch` if its output would not follow on the text that the client already has.
 */
export const continuationFailures = ['refused', 'mismatch'] as const;
export type ContinuationFailure = (typeof continuationFailures)[number];

/**
 * The error of a worker that cannot continue an answer. No other worker can do better, and neither the worker nor its upstream is at
 * fault.
 */
export class CannotContinue extends RouterError {
  override name = 'CannotContinue';
  readonly failure: ContinuationFailure;

  /** @param message for the log only; the client gets the error that ended the stream on its first worker */
  constructor(failure: ContinuationFailure, message: string, cause?: unknown) {
    super('invalid_request', message, { cause });
    this.failure = failure;
  }
}
