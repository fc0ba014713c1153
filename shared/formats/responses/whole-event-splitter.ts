const end = Buffer.from('\n\n');

export const noBytes = Buffer.alloc(0);

/** Converts the pieces of a stream to whole events. The beginning of an event is kept until the event is complete. */
export class WholeEventSplitter {
  #rest: Buffer = noBytes;

  /**
   * Returns the events that this piece completes; no bytes if the piece completes none. If the piece ends with an event, the result may be
   * the piece itself, without a copy.
   */
  next(piece: Uint8Array): Uint8Array {
    const bytes = this.#withRest(piece);
    const at = bytes.lastIndexOf(end);
    const completeBytes = at < 0 ? 0 : at + end.length;
    if (completeBytes === bytes.length) {
      this.#rest = noBytes;
      return bytes;
    }
    // A copy is kept, because the piece's memory may be used again.
    this.#rest = Buffer.from(bytes.subarray(completeBytes));
    return bytes.subarray(0, completeBytes);
  }

  /** Returns the bytes that are kept, followed by the last piece. */
  last(piece: Uint8Array): Uint8Array {
    const bytes = this.#withRest(piece);
    this.#rest = noBytes;
    return bytes;
  }

  #withRest(piece: Uint8Array): Buffer {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    return this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
  }
}
