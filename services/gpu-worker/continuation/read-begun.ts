import type { ClientFormat } from '#shared/formats/client-format.ts';
import type { RelayedAnswer } from '#shared/formats/relayed-answer.ts';
import { EventObjects } from '#shared/formats/sse/event-objects.ts';
import { cannotContinue } from './refused.ts';

/**
 * Reads the part of an answer that the client already has.
 * @param answerId the id that the answer must have; undefined if a worker chose it
 * @throws CannotContinue `refused` if the answer cannot be continued exactly
 */
export function readBegun(
  relayed: Buffer,
  { readRelayed }: Pick<ClientFormat, 'readRelayed'>,
  answerId: string | undefined,
): RelayedAnswer {
  if (!readRelayed) throw cannotContinue('its format is not continued');
  if (relayed.subarray(-2).toString() !== '\n\n') throw cannotContinue('an event is not complete');
  const begun = readRelayed(eventsOf(relayed));
  if (typeof begun === 'string') throw cannotContinue(begun);
  if (answerId !== undefined && begun.id !== answerId) throw cannotContinue('it has another id');
  return begun;
}

function eventsOf(relayed: Buffer) {
  try {
    return new EventObjects().read(relayed);
  } catch (error) {
    // This also happens at the mark of a stream's end, which is not JSON.
    throw cannotContinue('an event cannot be read', error);
  }
}
