import { CannotContinue } from '#shared/core/cannot-continue.ts';
import { errorTable, RouterError } from '#shared/core/errors.ts';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import type { RelayedAnswer } from '#shared/formats/relayed-answer.ts';
import { EventObjects } from '#shared/formats/sse/event-objects.ts';

/**
 * Reads what the client has of an answer.
 * @param answerId the id that the answer must have; undefined if a worker chose it
 * @throws CannotContinue `refused` if it cannot be continued exactly
 */
export function readBegun(
  relayed: Buffer,
  { readRelayed }: Pick<ClientFormat, 'readRelayed'>,
  answerId: string | undefined,
): RelayedAnswer {
  if (!readRelayed) throw refused('its format is not continued');
  if (relayed.subarray(-2).toString() !== '\n\n') throw refused('an event is not complete');
  const begun = readRelayed(eventsOf(relayed));
  if (typeof begun === 'string') throw refused(begun);
  if (answerId !== undefined && begun.id !== answerId) throw refused('it has another id');
  return begun;
}

/** The error of an answer that a worker does not continue. @param why in words for the log */
export function refused(why: string, cause?: unknown): CannotContinue {
  return new CannotContinue('refused', `The answer cannot be continued: ${why}.`, cause);
}

function eventsOf(relayed: Buffer) {
  try {
    return new EventObjects().read(relayed);
  } catch (error) {
    // The mark of a stream's end is no JSON.
    throw refused('an event cannot be read', error);
  }
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
