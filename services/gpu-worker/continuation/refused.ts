import { CannotContinue } from '#shared/core/cannot-continue.ts';
import { errorTable, RouterError } from '#shared/core/errors.ts';

/**
 * Creates the error for an answer that a worker does not continue.
 * @param why reason, in words for the log
 */
export function cannotContinue(why: string, cause?: unknown): CannotContinue {
  return new CannotContinue('refused', `The answer cannot be continued: ${why}.`, cause);
}

/**
 * Waits for the answer to a job that continues another one. Turns an engine's refusal of the request into CannotContinue. The engine may,
 * for instance, have refused the beginning of the answer. The client's own request is not the cause, because it was accepted before.
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
    throw cannotContinue(error.message, error);
  }
}
