import { computeMemoryShare } from '#shared/core/memory-budget.ts';

/** Maximum bytes of one answer that is not streamed. */
const maxAnswerBytes = 64 * 1024 * 1024;

/**
 * Incomplete answers may use the memory limit divided by this number. The number is large, because a complete answer is copied once more.
 */
const memoryDivisor = 8;

/** Bytes of memory that a part costs besides its content. */
const partOverheadBytes = 128;

/** The received parts of one answer that is not streamed, in order. */
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

  /** Adds a part. Copies a small part of a large read buffer, because a view would keep the whole buffer alive. */
  add(part: Uint8Array): void {
    this.#parts.push(2 * part.length < part.buffer.byteLength ? Buffer.from(part) : part);
    this.#count(part.length + partOverheadBytes);
  }

  /** Returns the parts and the last bytes in one array. */
  join(lastBytes: Uint8Array): Uint8Array {
    return Buffer.concat([...this.#parts, lastBytes]);
  }

  /** Releases the parts. A second call does nothing. */
  release(): void {
    this.#parts = [];
    this.#count(-this.#bytes);
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#onBytes(bytes);
  }
}

/** A job whose attempt has the received parts of its answer. */
interface JobWithAttempt {
  readonly attempt: { partialAnswer: PartialAnswer | undefined } | undefined;
}

/** The incomplete answers of all jobs of this process that are not streamed. Their total size is bounded. */
export class PartialAnswers<Job extends JobWithAttempt> {
  readonly #maxBytes: number;
  readonly #jobsByAnswer = new Map<PartialAnswer, Job>();
  #bytes = 0;

  /** @param memoryBytes the memory limit of this process in bytes; 0 if there is none */
  constructor(memoryBytes: number) {
    this.#maxBytes = computeMemoryShare(memoryDivisor, memoryBytes);
  }

  /**
   * Keeps a part of a job's answer.
   * @returns undefined if there is room for the part, otherwise the job to end: this job if its own answer is too large, or the job with
   * the largest answer if all answers together are too large
   */
  keep(job: Job, part: Uint8Array): Job | undefined {
    const { attempt } = job;
    if (!attempt) return undefined;
    const answer = (attempt.partialAnswer ??= this.#createAnswer(job));
    answer.add(part);
    if (answer.bytes > maxAnswerBytes) return job;
    return this.#bytes > this.#maxBytes ? this.#findLargest() : undefined;
  }

  #createAnswer(job: Job): PartialAnswer {
    const answer = new PartialAnswer((bytes) => {
      this.#bytes += bytes;
      if (bytes < 0) this.#jobsByAnswer.delete(answer);
    });
    this.#jobsByAnswer.set(answer, job);
    return answer;
  }

  #findLargest(): Job | undefined {
    let largest: [PartialAnswer, Job] | undefined;
    for (const entry of this.#jobsByAnswer) if (!largest || entry[0].bytes > largest[0].bytes) largest = entry;
    return largest?.[1];
  }
}
