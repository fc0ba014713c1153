import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds between two writes, because a fast answer has hundreds of events a second, and there may be hundreds of answers. */
const writeIntervalMs = 50;
/** Largest number of bytes of one write, unless a single piece is longer. */
const bytesAtOnce = 128 * 1024;
/** Milliseconds between a failed write and the next one. */
const retryMs = 250;

/** Events, or pieces of an answer without events, that are written together. */
export interface JournalEntry {
  /** Number of the first event. */
  from: number;
  /** Number of the last event. */
  last: number;
  /** Undefined if the entry has no events. */
  bytes: Uint8Array | undefined;
  /** Fields of the record that have changed since the previous entry. Undefined values count as unchanged. */
  fields: Readonly<Record<string, object | undefined>>;
}

/** `lost`: the events of the answer are not kept. `superseded`: nothing can be written any more. */
export type AppendOutcome = 'kept' | 'lost' | 'superseded';

export interface JournalWriterParts {
  /** Number of the first event. */
  next: number;
  /**
   * Writes an entry. Is called again with the same entry if the result is unknown.
   * @throws any error if the result is unknown
   */
  append: (entry: JournalEntry) => Promise<AppendOutcome>;
  /** Maximum bytes of the answer. */
  maxBytes: number;
  /** The memory of unwritten pieces that the owner of the answer may take. */
  share: { take: (bytes: number) => boolean; release: (bytes: number) => void };
  /** Called once when nothing can be written any more. */
  onSuperseded?: () => void;
}

interface Piece {
  bytes: Uint8Array;
  from: number;
  last: number;
}

/**
 * Writes the events of one answer to the store while it is produced. Events that arrive during a write, or shortly after it, are written
 * together. While the store is unreachable, they wait. If they exceed their bound, the events of the answer are not kept.
 */
export class JournalWriter {
  readonly #parts: JournalWriterParts;
  #pieces: Piece[] = [];
  #waitingBytes = 0;
  /** Number of bytes that were added, written or not. */
  #bytes = 0;
  #next: number;
  #unwrittenFields: JournalEntry['fields'] | undefined;
  /** Set if the events are not kept: `unreported` until the store knows, then `reported`. */
  #loss: false | 'unreported' | 'reported' = false;
  #mayWrite = true;
  /** Set once no further pieces come. Aborts when unconfirmed writes are no longer repeated. */
  #closing: AbortSignal | undefined;
  #writing: Promise<void> | undefined;
  #writtenAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: JournalWriterParts) {
    this.#parts = parts;
    this.#next = parts.next;
  }

  /** Number of the next event. */
  get next(): number {
    return this.#next;
  }

  /** Writes fields of the record at once. */
  writeFields(fields: JournalEntry['fields']): void {
    this.#unwrittenFields = fields;
    void this.#write();
  }

  /**
   * Adds whole events. The caller must not reuse the memory of `bytes`, because the writer keeps it.
   * @param last number of the last event
   */
  add(bytes: Uint8Array, last = this.#next): void {
    const from = this.#next;
    this.#next = last + 1;
    if (this.#loss !== false || !this.#mayWrite || this.#closing) return;
    this.#bytes += bytes.length;
    if (this.#bytes > this.#parts.maxBytes || !this.#parts.share.take(bytes.length)) {
      this.#lose('unreported');
      void this.#write();
      return;
    }
    this.#waitingBytes += bytes.length;
    this.#pieces.push({ bytes, from, last });
    void this.#write();
  }

  /**
   * Writes the added events, except the last ones, which fit into one write. To be called once, before `stop`.
   * @param giveUp aborts when failed writes are no longer repeated
   * @returns the entry that is to be written with the end of the answer; after `giveUp`, the store may have its first events already.
   * Undefined if nothing can be written any more
   */
  async close(giveUp: AbortSignal): Promise<JournalEntry | undefined> {
    this.#closing = giveUp;
    while (this.#writing || (this.#mayWrite && !giveUp.aborted && this.#waitingBytes > bytesAtOnce))
      await this.#write();
    return this.#mayWrite ? this.#toEntry(this.#pieces) : undefined;
  }

  /** Discards the unwritten events and stops writing. */
  stop(): void {
    this.#mayWrite = false;
    clearTimeout(this.#timer);
    this.#lose('reported');
  }

  #write(): Promise<void> {
    if (!this.#writing && this.#mayWrite && this.#isWriteDue()) this.#writing = this.#writeAll();
    return this.#writing ?? Promise.resolve();
  }

  async #writeAll(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    do {
      const pieces = this.#pieces.slice(0, this.#countPiecesAtOnce());
      const entry = this.#toEntry(pieces);
      this.#unwrittenFields = undefined;
      if (this.#loss === 'unreported') this.#loss = 'reported';
      if (!(await this.#append(entry))) break;
      this.#writtenAt = performance.now();
      // If the answer was lost meanwhile, the pieces are dropped already.
      if (this.#loss === false) this.#release(this.#pieces.splice(0, pieces.length));
    } while (this.#mayWrite && this.#isWriteDue());
    this.#writing = undefined;
  }

  /** Returns whether to write now. If events are to be written later, sets a timer. */
  #isWriteDue(): boolean {
    if (this.#waitingBytes > bytesAtOnce) return true;
    if (this.#closing) return false;
    if (this.#unwrittenFields || this.#loss === 'unreported') return true;
    if (this.#pieces.length === 0) return false;
    const leftMs = this.#writtenAt + writeIntervalMs - performance.now();
    if (leftMs <= 0) return true;
    this.#timer ??= setTimeout(() => {
      // A timer may fire a little early, and is then set again.
      this.#timer = undefined;
      void this.#write();
    }, Math.ceil(leftMs));
    return false;
  }

  /** Repeats one write until the store confirms it. Returns false if its result stays unknown. */
  async #append(entry: JournalEntry): Promise<boolean> {
    while (this.#mayWrite && this.#closing?.aborted !== true) {
      try {
        const outcome = await this.#parts.append(entry);
        if (outcome !== 'kept') this.#lose('reported');
        if (outcome === 'superseded' && this.#mayWrite) {
          this.#mayWrite = false;
          this.#parts.onSuperseded?.();
        }
        return true;
      } catch {
        await pause(retryMs);
      }
    }
    return false;
  }

  #toEntry(pieces: readonly Piece[]): JournalEntry {
    // If pieces were lost, this number shows the gap.
    const from = pieces[0]?.from ?? this.#next;
    const bytes = pieces.length === 0 ? undefined : Buffer.concat(pieces.map((piece) => piece.bytes));
    return { from, last: pieces.at(-1)?.last ?? from, bytes, fields: this.#unwrittenFields ?? {} };
  }

  #countPiecesAtOnce(): number {
    let bytes = 0;
    const beyond = this.#pieces.findIndex((piece, at) => (bytes += piece.bytes.length) > bytesAtOnce && at > 0);
    return beyond === -1 ? this.#pieces.length : beyond;
  }

  #lose(loss: 'unreported' | 'reported'): void {
    this.#loss = loss;
    this.#release(this.#pieces.splice(0));
  }

  #release(pieces: readonly Piece[]): void {
    for (const { bytes } of pieces) {
      this.#parts.share.release(bytes.length);
      this.#waitingBytes -= bytes.length;
    }
  }
}
