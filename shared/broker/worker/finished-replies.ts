import type { ReplyWriter } from './reply-writer.ts';

/** Maximum milliseconds to keep the end of an answer. That is as long as its dispatcher may be out of reach. */
const maxKeptMs = 60_000;

/** Minimum milliseconds to keep the end of an answer. With a larger value, many answers would reach the old generation of the heap. */
const keptMs = 1_000;

/** Maximum bytes of kept frames over all finished answers. Beyond it, the oldest answers are dropped first. */
const maxKeptBytes = 64 * 1024 * 1024;

/** Approximate bytes of one kept answer besides its frames. */
const overheadBytes = 1_024;

interface Finished {
  writer: ReplyWriter;
  at: number;
}

/** Keeps answers for a moment after their end, because their last frames may be lost and requested again. */
export class FinishedReplies {
  /** The ended answers by grant, oldest first. */
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

  /** Returns the answers that ended before a time of `performance.now()`. */
  endedBefore(time: number): ReplyWriter[] {
    return [...this.#finished.values()].filter(({ at }) => at < time).map(({ writer }) => writer);
  }

  /** Drops the answers that have reached their dispatcher. Do not call it while the connection is down or has just been restored. */
  dropOld(now: number): void {
    for (const [grant, kept] of this.#finished) {
      if (kept.at > now - keptMs) break;
      const hadBytes = kept.writer.keptBytes;
      const isConfirmed = kept.writer.dropConfirmed(now);
      this.#bytes -= hadBytes - kept.writer.keptBytes;
      if (isConfirmed || kept.at < now - maxKeptMs) this.#drop(grant, kept);
    }
  }

  /** Called only if an answer must be dropped, because a map steps over deleted entries to find its first one. */
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
