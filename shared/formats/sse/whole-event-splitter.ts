import { partialEvents, type PartialEvent } from './partial-events.ts';

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
