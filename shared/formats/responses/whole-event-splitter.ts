const eventEnd = Buffer.from('\n\n');

export const noBytes = Buffer.alloc(0);

/** Converts the pieces of a stream to whole events. Keeps the beginning of an event until the event is complete. */
export class WholeEventSplitter {
  #rest: Buffer = noBytes;

  /**
   * Returns the events that this piece completes; no bytes if the piece completes no event. The result may share the memory of the piece.
   */
  takeWholeEvents(piece: Uint8Array): Uint8Array {
    const bytes = this.#prependRest(piece);
    const at = bytes.lastIndexOf(eventEnd);
    const completeBytes = at < 0 ? 0 : at + eventEnd.length;
    if (completeBytes === bytes.length) {
      this.#rest = noBytes;
      return bytes;
    }
    // The rest is copied, because the piece's memory may be used again.
    this.#rest = Buffer.from(bytes.subarray(completeBytes));
    return bytes.subarray(0, completeBytes);
  }

  /** Returns the kept bytes, followed by the last piece of the stream. */
  finish(piece: Uint8Array): Uint8Array {
    const bytes = this.#prependRest(piece);
    this.#rest = noBytes;
    return bytes;
  }

  #prependRest(piece: Uint8Array): Buffer {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    return this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
  }
}
