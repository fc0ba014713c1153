import { CannotContinue } from '#shared/core/cannot-continue.ts';
import { errorTable, RouterError } from '#shared/core/errors.ts';

/** The error of an answer that a worker does not continue. @param why in words for the log */
export function refused(why: string, cause?: unknown): CannotContinue {
  return new CannotContinue('refused', `The answer cannot be continued: ${why}.`, cause);
}

/**
 * The answer to a job that continues another one. An engine that refuses the request, because it does not take the beginning of an
 * answer, for instance, does not continue it: the request itself was accepted before.
 */
export async function refusedIfClientError<Answer>(answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    if (
      error instanceof CannotContinue ||
      !(error instanceof RouterError) ||
      error.movable ||
      errorTable[error.code].status >= 500
    )
      throw error;
    throw refused(error.message, error);
  }
}
