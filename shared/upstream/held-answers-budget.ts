import { RouterError } from '#shared/core/errors.ts';
import { computeMemoryShare } from '#shared/core/memory-budget.ts';

/** Maximum bytes of one answer, far more than any model writes. */
const maxAnswerBytes = 64 * 1024 * 1024;

/**
 * Divisor of the memory limit for the maximum bytes of all answers together. An answer is in memory several times while it is parsed,
 * translated and written.
 */
const answerMemoryDivisor = 10;

export interface HeldAnswer {
  /**
   * Counts further bytes of the answer.
   * @throws RouterError `upstream_failed` if the answer is too long for this process, `overloaded` if other answers leave too little room
   */
  grow: (bytes: number) => void;
  release: () => void;
}

/** Limits the bytes of all answers that a process keeps in memory until they are complete. */
export class HeldAnswersBudget {
  readonly #maxBytes: number;
  #heldBytes = 0;

  /** @param memoryBytes the memory limit of this process; 0 if there is none */
  constructor(memoryBytes: number) {
    this.#maxBytes = computeMemoryShare(answerMemoryDivisor, memoryBytes);
  }

  /** Begins to count the bytes of one answer. Call `release` when the answer is dropped. */
  openAnswer(): HeldAnswer {
    let held = 0;
    return {
      grow: (bytes) => {
        if (held + bytes > Math.min(maxAnswerBytes, this.#maxBytes))
          throw new RouterError('upstream_failed', "The upstream's answer is too long.");
        if (this.#heldBytes + bytes > this.#maxBytes)
          throw new RouterError('overloaded', 'The worker holds as many answers as it can.', { retryAfter: 1 });
        held += bytes;
        this.#heldBytes += bytes;
      },
      release: () => {
        this.#heldBytes -= held;
        held = 0;
      },
    };
  }
}

/** The budget of this process. */
export const heldAnswersBudget = new HeldAnswersBudget(process.constrainedMemory());
