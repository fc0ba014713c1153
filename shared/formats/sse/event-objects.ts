import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { parseAnswer } from '#shared/core/has-more-values.ts';
import { partialEvents, type PartialEvent } from './partial-events.ts';

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

const eventEnd = Buffer.from('\n\n');
const lineEnd = 10;

export const noBytes = Buffer.alloc(0);

/** Converts the pieces of a stream to whole events. Keeps the beginning of an event until the event is complete. */
export class WholeEventSplitter {
  /** The beginning of an event; undefined until the first piece that does not end with an event. */
  #partial: PartialEvent | undefined;
  #endsLine = false;

  /**
   * Returns the events that this piece completes; no bytes if the piece completes no event. The result may share the memory of the piece.
   * @throws RouterError `overloaded` if there is no room for the beginning of an event, `upstream_failed` if the event is too large
   */
  takeWholeEvents(piece: Uint8Array): Uint8Array {
    if (piece.length === 0) return noBytes;
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    const at = bytes.lastIndexOf(eventEnd);
    const isEndDivided = at < 0 && this.#endsLine && bytes[0] === lineEnd;
    const completeBytes = isEndDivided ? 1 : at < 0 ? 0 : at + eventEnd.length;
    const events = completeBytes === 0 ? noBytes : this.finish(bytes.subarray(0, completeBytes));
    if (completeBytes < bytes.length) {
      this.#partial ??= partialEvents.open();
      this.#partial.add(bytes.subarray(completeBytes));
    }
    this.#endsLine = completeBytes < bytes.length ? bytes.at(-1) === lineEnd : false;
    return events;
  }

  /** Returns the kept bytes, followed by the last piece of the stream. */
  finish(piece: Uint8Array): Uint8Array {
    return this.#partial === undefined || this.#partial.bytes === 0 ? piece : this.#partial.take(piece);
  }
}
