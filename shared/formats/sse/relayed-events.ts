/** Counts the events of a stream of server-sent events that is passed on unread, and their bytes. */
export class RelayedEvents {
  events = 0;
  bytes = 0;
  /** Bytes of the first event, its empty line included. */
  firstEventBytes = 0;

  /** Takes the next piece of the stream. Pieces hold whole events, but for very long ones. */
  add(piece: Uint8Array): void {
    const buffer = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    for (let end = buffer.indexOf('\n\n'); end >= 0; end = buffer.indexOf('\n\n', end + 2)) {
      this.events += 1;
      if (this.events === 1) this.firstEventBytes = this.bytes + end + 2;
    }
    this.bytes += piece.length;
  }
}
