import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';

/** Maximum characters of one event. */
const maxEventCharacters = 64 * 1024 * 1024;

/**
 * Reads the events of a stream from a worker. Each event has one `data:` line with a JSON object. A piece may end within an event or
 * within a character.
 */
export class EventObjects {
  readonly #decoder = new TextDecoder();
  #rest = '';

  /**
   * Returns the data of the events that the piece completes.
   * @throws RouterError `upstream_failed` if an event cannot be read
   */
  read(piece: Uint8Array): JsonObject[] {
    const texts = (this.#rest + this.#decoder.decode(piece, { stream: true })).split('\n\n');
    this.#rest = texts.pop() ?? '';
    if (this.#rest.length > maxEventCharacters)
      throw new RouterError('upstream_failed', 'An event of the answer is too long.');
    return texts.flatMap(readData);
  }
}

function readData(event: string): JsonObject[] {
  const line = event.split('\n').find((each) => each.startsWith('data: '));
  if (line === undefined) return [];
  try {
    const data: unknown = JSON.parse(line.slice('data: '.length));
    if (isJsonObject(data)) return [data];
  } catch (cause) {
    throw new RouterError('upstream_failed', 'An event of the answer could not be read.', { cause });
  }
  throw new RouterError('upstream_failed', 'An event of the answer is not an object.');
}
