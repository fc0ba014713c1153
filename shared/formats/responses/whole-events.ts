/** Two line feeds end an event. */
const end = Buffer.from('\n\n');

/** No bytes. */
export const nothing = Buffer.alloc(0);

/** Passes the pieces of a stream on as whole events: the beginning of one waits for its end. */
export class WholeEvents {
  #begun: Buffer = nothing;

  /** The events that are complete after this piece; no bytes if none is. A piece that ends with an event is returned itself. */
  next(piece: Uint8Array): Uint8Array {
    const bytes = this.#with(piece);
    const at = bytes.lastIndexOf(end);
    const complete = at < 0 ? 0 : at + end.length;
    if (complete === bytes.length) {
      this.#begun = nothing;
      return bytes;
    }
    // The piece's memory may be used again.
    this.#begun = Buffer.from(bytes.subarray(complete));
    return bytes.subarray(0, complete);
  }

  /** All that is left, with the last piece. */
  last(piece: Uint8Array): Uint8Array {
    const bytes = this.#with(piece);
    this.#begun = nothing;
    return bytes;
  }

  #with(piece: Uint8Array): Buffer {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    return this.#begun.length === 0 ? bytes : Buffer.concat([this.#begun, bytes]);
  }
}
