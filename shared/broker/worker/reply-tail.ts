import type { FrameKind } from '../contract/subjects.ts';
import type { FrameMemory, KeptFrame } from './frame-memory.ts';

/** Milliseconds for which a sent frame is kept. A broker that dies loses what was sent shortly before. */
const keptMs = 1_000;

/** Bytes of frames kept at most, for one answer. */
const maxKeptBytes = 1024 * 1024;

/** A frame as it was sent. */
export interface SentFrame {
  kind: FrameKind;
  payload: Uint8Array;
}

/**
 * The last frames of one answer, to be sent again when they were lost. What was sent within the last second is kept;
 * while the connection is down or young, everything is, because it is not known yet what was lost. A megabyte bounds both.
 */
export class ReplyTail {
  readonly #memory: FrameMemory;
  readonly #frames: { kind: FrameKind; kept: KeptFrame; at: number }[] = [];
  #firstSeq = 0;
  #bytes = 0;

  constructor(memory: FrameMemory) {
    this.#memory = memory;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Adds the next frame in order. @param keepAll whether age does not count now */
  add(kind: FrameKind, payload: Uint8Array, now: number, keepAll: boolean): void {
    this.#frames.push({ kind, kept: this.#memory.keep(payload), at: now });
    this.#bytes += payload.length;
    this.#dropBefore(keepAll ? Number.NEGATIVE_INFINITY : now - keptMs);
  }

  /** Drops what is old enough, though no new frame came. */
  dropOld(now: number): void {
    this.#dropBefore(now - keptMs);
  }

  /** Drops all of it: nobody will ask for a frame of this answer any more. */
  dropAll(): void {
    this.#dropBefore(Number.POSITIVE_INFINITY);
  }

  /** The frames from this number on; undefined when some of them are not kept any more. */
  from(seq: number): SentFrame[] | undefined {
    if (seq < this.#firstSeq) return undefined;
    return this.#frames.slice(seq - this.#firstSeq).map(({ kind, kept }) => ({ kind, payload: kept.read() }));
  }

  #dropBefore(oldest: number): void {
    for (let first = this.#frames[0]; first; first = this.#frames[0]) {
      if (first.at >= oldest && this.#bytes <= maxKeptBytes) break;
      this.#bytes -= first.kept.length;
      first.kept.release();
      this.#firstSeq += 1;
      this.#frames.shift();
    }
  }
}
