import type { ReplyWriter } from './reply-writer.ts';

/** Maximum milliseconds for which the end of an answer is kept: as long as its dispatcher may be out of reach. */
const maxKeptMs = 60_000;

/** Minimum milliseconds for which the end of an answer is kept. With a longer time, many answers would reach the heap's old generation. */
const minKeptMs = 1_000;

/** Maximum bytes of the kept frames of all finished answers together. Beyond it, the oldest answers are dropped. */
const maxKeptBytes = 64 * 1024 * 1024;

/** Approximate bytes that a kept answer costs besides its frames. */
const overheadBytes = 1_024;

interface FinishedReply {
  writer: ReplyWriter;
  endedAt: number;
}

/** Keeps the last frames of finished answers for a while, because a dispatcher that misses them requests them again. */
export class FinishedReplies {
  /** The finished answers by grant, oldest first. */
  readonly #replies = new Map<string, FinishedReply>();
  #bytes = 0;

  add(grant: string, writer: ReplyWriter): void {
    this.#replies.set(grant, { writer, endedAt: performance.now() });
    this.#bytes += computeSize(writer);
    if (this.#bytes > maxKeptBytes) this.#dropOldest();
  }

  get(grant: string): ReplyWriter | undefined {
    return this.#replies.get(grant)?.writer;
  }

  /** Returns the answers that were finished before a time, in milliseconds of `performance.now()`. */
  findEndedBefore(time: number): ReplyWriter[] {
    return [...this.#replies.values()].filter(({ endedAt }) => endedAt < time).map(({ writer }) => writer);
  }

  /**
   * Drops the answers that have reached their dispatcher, and the answers that were kept for `maxKeptMs`. Do not call it while the
   * connection is down or has just been restored.
   */
  dropOld(now: number): void {
    for (const [grant, kept] of this.#replies) {
      if (kept.endedAt > now - minKeptMs) break;
      const bytesBefore = kept.writer.keptBytes;
      const isConfirmed = kept.writer.dropConfirmed(now);
      this.#bytes -= bytesBefore - kept.writer.keptBytes;
      if (isConfirmed || kept.endedAt < now - maxKeptMs) this.#drop(grant, kept);
    }
  }

  /**
   * Drops the oldest answers until the rest fits. Call it only when an answer must be dropped: a map steps over all deleted entries to find
   * its first entry.
   */
  #dropOldest(): void {
    for (const [grant, kept] of this.#replies) {
      if (this.#bytes <= maxKeptBytes) break;
      this.#drop(grant, kept);
    }
  }

  #drop(grant: string, { writer }: FinishedReply): void {
    this.#replies.delete(grant);
    this.#bytes -= computeSize(writer);
    writer.dropAll();
  }
}

function computeSize(writer: ReplyWriter): number {
  return writer.keptBytes + overheadBytes;
}
