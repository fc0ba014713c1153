import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { parseAnswer } from '#shared/core/parse-answer.ts';

/** Maximum characters of one event. */
const maxEventCharacters = 64 * 1024 * 1024;

/**
 * Reads the events of a stream from a worker. Each event has one `data:` line with a JSON object. A piece may end within an event or
 * within a character.
 */
export class EventObjects {
  readonly #decoder = new TextDecoder();
  /** The texts of the event that no piece has completed yet. Joining them for each piece would take quadratic time. */
  #partTexts: string[] = [];
  #partCharacters = 0;

  /**
   * Returns the data of the events that the piece completes.
   * @throws RouterError `upstream_failed` if an event cannot be read
   */
  read(piece: Uint8Array): JsonObject[] {
    const text = this.#decoder.decode(piece, { stream: true });
    // A blank line may begin with the last character of the previous piece.
    const isBlankLineSplit = text.startsWith('\n') && this.#partTexts.at(-1)?.endsWith('\n') === true;
    if (!isBlankLineSplit && !text.includes('\n\n')) {
      this.#keep(text);
      return [];
    }
    const events = [...this.#partTexts, text].join('').split('\n\n');
    this.#partTexts = [];
    this.#partCharacters = 0;
    this.#keep(events.pop() ?? '');
    return events.flatMap(readData);
  }

  #keep(text: string): void {
    if (text === '') return;
    this.#partTexts.push(text);
    this.#partCharacters += text.length;
    if (this.#partCharacters > maxEventCharacters)
      throw new RouterError('upstream_failed', 'An event of the answer is too long.');
  }
}

function readData(event: string): JsonObject[] {
  const line = event.split('\n').find((each) => each.startsWith('data: '));
  if (line === undefined) return [];
  const data = parseAnswer(line.slice('data: '.length));
  if (!isJsonObject(data)) throw new RouterError('upstream_failed', 'An event of the answer could not be read.');
  return [data];
}
