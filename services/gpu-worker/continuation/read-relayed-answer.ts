import type { ClientFormat } from '#shared/formats/client-format.ts';
import type { RelayedAnswer } from '#shared/formats/relayed-answer.ts';
import { EventObjects } from '#shared/formats/sse/event-objects.ts';
import { cannotContinue } from './cannot-continue.ts';

/**
 * Reads the part of an answer that the client already has.
 * @param answerId the id that the answer must have; undefined if a worker chose the id
 * @throws CannotContinue `refused` if the answer cannot be continued exactly
 */
export function readRelayedAnswer(
  relayedBytes: Buffer,
  { readRelayed }: Pick<ClientFormat, 'readRelayed'>,
  answerId: string | undefined,
): RelayedAnswer {
  if (!readRelayed) throw cannotContinue('answers of its format are not continued');
  if (relayedBytes.subarray(-2).toString() !== '\n\n') throw cannotContinue('an event is not complete');
  const relayedAnswer = readRelayed(parseEvents(relayedBytes));
  if (typeof relayedAnswer === 'string') throw cannotContinue(relayedAnswer);
  if (answerId !== undefined && relayedAnswer.id !== answerId) throw cannotContinue('it has another id');
  return relayedAnswer;
}

function parseEvents(relayed: Buffer) {
  try {
    return new EventObjects().read(relayed);
  } catch (error) {
    // The end mark of a stream causes this error, too, because it is not JSON.
    throw cannotContinue('an event cannot be read', error);
  }
}
