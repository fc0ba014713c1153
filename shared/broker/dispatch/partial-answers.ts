import { computeMemoryShare } from '#shared/core/memory-budget.ts';

/** Bytes of one answer that is not streamed, at most. */
const maxAnswerBytes = 64 * 1024 * 1024;

/** One in so many bytes of the memory limit may be answers that are not whole yet. Each is copied once more when it is. */
const answerParts = 8;

/** Bytes that a part costs besides its content. */
const partBytes = 128;

/** The parts of one answer that have come, in order. */
export class PartialAnswer {
  #parts: Uint8Array[] = [];
  #bytes = 0;
  readonly #onBytes: (bytes: number) => void;

  /** @param onBytes is called with the bytes that it takes, negative when it gives them back */
  constructor(onBytes: (bytes: number) => void) {
    this.#onBytes = onBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Adds a part. A small part of a large read buffer is copied, because a view would keep the whole buffer. */
  add(part: Uint8Array): void {
    this.#parts.push(2 * part.length < part.buffer.byteLength ? Buffer.from(part) : part);
    this.#count(part.length + partBytes);
  }

  /** The parts and the last bytes, as one. */
  whole(lastBytes: Uint8Array): Uint8Array {
    return Buffer.concat([...this.#parts, lastBytes]);
  }

  /** Releases the parts. May be called again. */
  release(): void {
    this.#parts = [];
    this.#count(-this.#bytes);
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#onBytes(bytes);
  }
}

/** A job, with what is kept of its answer. */
interface AnsweredJob {
  readonly attempt: { partial: PartialAnswer | undefined } | undefined;
}

/** The answers that are not streamed and not whole yet, of all jobs of this process. They are bounded in sum. */
export class PartialAnswers<Job extends AnsweredJob> {
  readonly #maxBytes: number;
  readonly #open = new Map<PartialAnswer, Job>();
  #bytes = 0;

  /** @param memoryBytes what this process may use; 0 without a limit */
  constructor(memoryBytes: number) {
    this.#maxBytes = computeMemoryShare(answerParts, memoryBytes);
  }

  /**
   * Keeps a part of a job's answer.
   * @returns the job whose answer is too large: this one, or the one with the largest if all together take too much; undefined if there
   * is room
   */
  keep(job: Job, part: Uint8Array): Job | undefined {
    const { attempt } = job;
    if (!attempt) return undefined;
    const answer = (attempt.partial ??= this.#begin(job));
    answer.add(part);
    if (answer.bytes > maxAnswerBytes) return job;
    return this.#bytes > this.#maxBytes ? this.#largest() : undefined;
  }

  #begin(job: Job): PartialAnswer {
    const answer = new PartialAnswer((bytes) => {
      this.#bytes += bytes;
      if (bytes < 0) this.#open.delete(answer);
    });
    this.#open.set(answer, job);
    return answer;
  }

  #largest(): Job | undefined {
    let largest: [PartialAnswer, Job] | undefined;
    for (const entry of this.#open) if (!largest || entry[0].bytes > largest[0].bytes) largest = entry;
    return largest?.[1];
  }
}
