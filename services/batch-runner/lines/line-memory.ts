import { RouterError } from '#shared/core/errors.ts';
import type { ModelOperation } from '#shared/core/operation.ts';
import { computeMemoryShare, type MemoryBudget } from '#shared/core/memory-budget.ts';

const mebibyte = 1024 * 1024;

/** Maximum bytes that the large answers of all lines and responses of a runner may use. */
const maxAnswerMemoryBytes = 128 * mebibyte;

/** An answer of at most this many bytes is not counted, because the number of running lines and responses is bounded. */
const uncountedBytes = 64 * 1024;

/**
 * Computes the bytes that the large answers of all lines and responses of a process may use: a twelfth of the memory limit, and at most 128
 * MiB. One answer may use half of them, because it is in memory up to eight times while its result is written.
 * @param memoryBytes the memory limit of this process; 0 if it has none
 */
export function computeAnswerBudget(memoryBytes: number): number {
  return Math.min(maxAnswerMemoryBytes, computeMemoryShare(12, memoryBytes));
}

/** Bytes reserved for an answer until it is recorded, for operations with large answers. */
const bytesByOperation: Partial<Record<ModelOperation, number>> = { draw: 8 * mebibyte, embed: mebibyte };

/** The part of the runner's memory for answers that is reserved for one try of a line or one run of a response. */
export class LineMemory {
  readonly #budget: MemoryBudget;
  #reservedBytes = 0;

  constructor(budget: MemoryBudget) {
    this.#budget = budget;
  }

  /**
   * Reserves the bytes that an answer is likely to need.
   * @throws RouterError `overloaded` if there is not enough memory
   */
  reserve(operation: ModelOperation): void {
    this.#grow(bytesByOperation[operation] ?? 0);
  }

  /**
   * Reserves the bytes of the answer that has come, beyond those that `reserve` has reserved, until `release`.
   * @throws RouterError `upstream_failed` if the answer is too large for this process, `overloaded` if there is not enough memory
   */
  reserveAnswer(bytes: number): void {
    if (bytes <= uncountedBytes) return;
    if (bytes > this.#budget.max / 2) throw new RouterError('upstream_failed', 'The answer is too large.');
    this.#grow(bytes - this.#reservedBytes);
  }

  release(): void {
    this.#budget.release(this.#reservedBytes);
    this.#reservedBytes = 0;
  }

  #grow(bytes: number): void {
    if (bytes <= 0) return;
    if (!this.#budget.take(bytes))
      throw new RouterError('overloaded', 'The answers of batches and in the background take too much memory.', {
        retryAfter: 1,
      });
    this.#reservedBytes += bytes;
  }
}
