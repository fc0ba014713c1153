import type { ReplyWriter } from './reply-writer.ts';

/** Milliseconds for which the end of an answer is kept at most: for as long as its ingress may be out of reach. */
const maxKeptMs = 60_000;

/** Milliseconds for which it is kept in any case. Kept for longer, many answers would reach the old generation of the heap. */
const keptMs = 1_000;

/** Bytes of kept ends at most, over all answers; beyond it the oldest go first. */
const maxKeptBytes = 64 * 1024 * 1024;

/** Bytes that one kept answer takes besides its frames, about. */
const overheadBytes = 1_024;

interface Finished {
  writer: ReplyWriter;
  at: number;
}

/** Answers that have just ended, kept for a moment: their last frames may be lost, and asked for again. */
export class FinishedReplies {
  /** By grant, oldest first. */
  readonly #finished = new Map<string, Finished>();
  #bytes = 0;

  add(grant: string, writer: ReplyWriter): void {
    this.#finished.set(grant, { writer, at: performance.now() });
    this.#bytes += sizeOf(writer);
    if (this.#bytes > maxKeptBytes) this.#dropBeyondBound();
  }

  get(grant: string): ReplyWriter | undefined {
    return this.#finished.get(grant)?.writer;
  }

  /** Those that ended before a time of `performance.now()`. */
  endedBefore(time: number): ReplyWriter[] {
    return [...this.#finished.values()].filter(({ at }) => at < time).map(({ writer }) => writer);
  }

  /** Drops those that have come to their ingress. Not to be called while the connection is down or young. */
  dropOld(now: number): void {
    for (const [grant, kept] of this.#finished) {
      if (kept.at > now - keptMs) break;
      const hadBytes = kept.writer.keptBytes;
      const isConfirmed = kept.writer.dropConfirmed(now);
      this.#bytes -= hadBytes - kept.writer.keptBytes;
      if (isConfirmed || kept.at < now - maxKeptMs) this.#drop(grant, kept);
    }
  }

  /** Called only when there is something to drop: to find its first entry, a map steps over the places of deleted ones. */
  #dropBeyondBound(): void {
    for (const [grant, kept] of this.#finished) {
      if (this.#bytes <= maxKeptBytes) break;
      this.#drop(grant, kept);
    }
  }

  #drop(grant: string, { writer }: Finished): void {
    this.#finished.delete(grant);
    this.#bytes -= sizeOf(writer);
    writer.dropAll();
  }
}

function sizeOf(writer: ReplyWriter): number {
  return writer.keptBytes + overheadBytes;
}
