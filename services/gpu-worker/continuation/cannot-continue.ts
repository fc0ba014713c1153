import { CannotContinue, errorTable, RouterError } from '#shared/core/errors.ts';

/**
 * Creates the error for an answer that this worker does not continue.
 * @param reason the reason, as the end of a sentence for the log
 */
export function cannotContinue(reason: string, cause?: unknown): CannotContinue {
  return new CannotContinue('refused', `The answer cannot be continued: ${reason}.`, cause);
}

/**
 * Waits for the answer to a job that continues a stream. If the engine refuses the request, throws CannotContinue instead of the engine's
 * error. The cause may be the beginning of the answer. It cannot be the client's request, because the first engine has accepted that
 * request.
 */
export async function throwCannotContinueIfRefused<Answer>(answer: Promise<Answer>): Promise<Answer> {
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
