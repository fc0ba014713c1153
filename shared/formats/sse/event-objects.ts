import { RouterError } from '#shared/core/errors.ts';
import { WholeEventSplitter } from './whole-event-splitter.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { parseAnswer } from '#shared/core/has-more-values.ts';

/**
 * Reads the events of a stream from a worker. Each event has one `data:` line with a JSON object. A piece may end within an event or
 * within a character.
 */
export class EventObjects {
  readonly #events = new WholeEventSplitter();

  /**
   * Returns the data of the events that the piece completes.
   * @throws RouterError `upstream_failed` if an event cannot be read, or if there is no room for its beginning
   */
  read(piece: Uint8Array): JsonObject[] {
    const events = this.#events.takeWholeEvents(piece);
    return events.length === 0 ? [] : Buffer.from(events).toString().split('\n\n').flatMap(readData);
  }
}

function readData(event: string): JsonObject[] {
  const line = event.split('\n').find((each) => each.startsWith('data: '));
  if (line === undefined) return [];
  const data = parseAnswer(line.slice('data: '.length));
  if (!isJsonObject(data)) throw new RouterError('upstream_failed', 'An event of the answer could not be read.');
  return [data];
}
