import type { FrameKind } from '../contract/subjects.ts';
import type { FrameMemory, KeptFrame } from './frame-memory.ts';

/** Maximum bytes of kept frames of one answer while its dispatcher is in reach. */
const maxKeptBytes = 1024 * 1024;

export interface SentFrame {
  kind: FrameKind;
  payload: Uint8Array;
}

/**
 * Keeps the last frames of one answer, so that lost frames can be sent again. Keeps only frames that may not have reached the dispatcher,
 * and at most a mebibyte of them. While the dispatcher may be out of reach, only the memory that all answers share limits them.
 */
export class ReplyTail {
  readonly #memory: FrameMemory;
  readonly #frames: { kind: FrameKind; kept: KeptFrame; sentAt: number }[] = [];
  #firstSeq = 0;
  #bytes = 0;

  constructor(memory: FrameMemory) {
    this.#memory = memory;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Adds the next frame.
   * @param confirmedTime the time before which all sent frames have arrived
   * @param isDoubtful whether the dispatcher may be out of reach
   */
  add(kind: FrameKind, payload: Uint8Array, now: number, confirmedTime: number, isDoubtful: boolean): void {
    this.#frames.push({ kind, kept: this.#memory.keep(payload), sentAt: now });
    this.#bytes += payload.length;
    this.#dropFrames(confirmedTime, isDoubtful ? Number.POSITIVE_INFINITY : maxKeptBytes);
  }

  /** Drops the frames that were sent before a time. */
  dropBefore(time: number): void {
    this.#dropFrames(time, Number.POSITIVE_INFINITY);
  }

  /** Drops all frames, because no dispatcher will request a frame of this answer any more. */
  dropAll(): void {
    this.dropBefore(Number.POSITIVE_INFINITY);
  }

  /** Whether a kept frame was sent at or after a time. */
  hasFrameSince(time: number): boolean {
    return (this.#frames.at(-1)?.sentAt ?? Number.NEGATIVE_INFINITY) >= time;
  }

  /** Returns the frames from the number `seq` on; undefined if one of them is not kept any more. */
  readFrom(seq: number): SentFrame[] | undefined {
    if (seq < this.#firstSeq) return undefined;
    return this.#frames.slice(seq - this.#firstSeq).map(({ kind, kept }) => ({ kind, payload: kept.read() }));
  }

  #dropFrames(oldest: number, maxBytes: number): void {
    for (let first = this.#frames[0]; first; first = this.#frames[0]) {
      if (first.sentAt >= oldest && this.#bytes <= maxBytes && !this.#memory.isOverfull) break;
      this.#bytes -= first.kept.length;
      first.kept.release();
      this.#firstSeq += 1;
      this.#frames.shift();
    }
  }
}
