import { computeMemoryShare } from '#shared/core/memory-budget.ts';

/** Maximum bytes of one answer that is not streamed. */
const maxAnswerBytes = 64 * 1024 * 1024;

/** Incomplete answers may use the memory limit divided by this number. Each answer is copied once more when it is complete. */
const answerParts = 8;

/** Bytes that a part costs besides its content. */
const partBytes = 128;

/** The received parts of one answer, in order. */
export class PartialAnswer {
  #parts: Uint8Array[] = [];
  #bytes = 0;
  readonly #onBytes: (bytes: number) => void;

  /** @param onBytes called with the number of added bytes, negative when they are released */
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

  /** Returns the parts and the last bytes in one array. */
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

/** A job with the received parts of its answer. */
interface AnsweredJob {
  readonly attempt: { partial: PartialAnswer | undefined } | undefined;
}

/** The incomplete answers that are not streamed, of all jobs of this process. Their total size is bounded. */
export class PartialAnswers<Job extends AnsweredJob> {
  readonly #maxBytes: number;
  readonly #open = new Map<PartialAnswer, Job>();
  #bytes = 0;

  /** @param memoryBytes the bytes that this process may use; 0 if it has no limit */
  constructor(memoryBytes: number) {
    this.#maxBytes = computeMemoryShare(answerParts, memoryBytes);
  }

  /**
   * Keeps a part of a job's answer.
   * @returns the job to end; undefined if there is room. It is this job if its answer is too large, or the job with the largest answer if
   * all answers together are too large
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
