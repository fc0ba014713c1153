import { RouterError } from '#shared/core/errors.ts';
import type { ModelOperation } from '#shared/core/operation.ts';
import type { MemoryBudget } from '#shared/core/memory-budget.ts';

const mebibyte = 1024 * 1024;

/** Bytes that the large answers of all lines of a runner may use. */
export const answerMemoryBytes = 128 * mebibyte;

/** Bytes reserved for an answer until it is recorded, for operations with large answers. */
const bytesByOperation: Partial<Record<ModelOperation, number>> = { draw: 8 * mebibyte, embed: mebibyte };

/** The part of the runner's memory for answers that is reserved for one try of a line. */
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
    const bytes = bytesByOperation[operation] ?? 0;
    if (bytes === 0) return;
    if (!this.#budget.take(bytes))
      throw new RouterError('overloaded', 'The answers of batches take too much memory.', { retryAfter: 1 });
    this.#reservedBytes += bytes;
  }

  release(): void {
    this.#budget.release(this.#reservedBytes);
    this.#reservedBytes = 0;
  }
}
