import { RouterError } from '#shared/core/errors.ts';
import { computeMemoryShare } from '#shared/core/memory-budget.ts';

/** Maximum bytes of one answer, far more than any model writes. */
const maxAnswerBytes = 64 * 1024 * 1024;

/**
 * Answers may use the memory limit divided by this number, because an answer is in memory several times while it is parsed, translated and
 * written.
 */
const answerParts = 10;

export interface HeldAnswer {
  /**
   * @throws RouterError `upstream_failed` if the answer is too long for this process, `overloaded` if other answers leave too little
   * room
   */
  grow: (bytes: number) => void;
  release: () => void;
}

/** Limits the bytes of all answers that a process keeps in memory until they are complete. */
export class HeldAnswersBudget {
  readonly #maxBytes: number;
  #bytes = 0;

  /** @param memoryBytes the memory limit of this process; 0 if there is none */
  constructor(memoryBytes: number) {
    this.#maxBytes = computeMemoryShare(answerParts, memoryBytes);
  }

  reserve(): HeldAnswer {
    let held = 0;
    return {
      grow: (bytes) => {
        if (held + bytes > Math.min(maxAnswerBytes, this.#maxBytes))
          throw new RouterError('upstream_failed', "The upstream's answer is too long.");
        if (this.#bytes + bytes > this.#maxBytes)
          throw new RouterError('overloaded', 'The worker holds as many answers as it can.', { retryAfter: 1 });
        held += bytes;
        this.#bytes += bytes;
      },
      release: () => {
        this.#bytes -= held;
        held = 0;
      },
    };
  }
}

export const wholeAnswers = new HeldAnswersBudget(process.constrainedMemory());
