import { RouterError } from '#shared/core/errors.ts';
import type { ModelOperation } from '#shared/core/operation.ts';
import type { MemoryBudget } from '#shared/core/memory-budget.ts';

const mebibyte = 1024 * 1024;

/** Bytes that the large answers of all lines of a runner may use. */
export const answerMemory = 128 * mebibyte;

/** Bytes reserved for an answer until it is recorded, for operations with large answers. */
const answerBytes: Partial<Record<ModelOperation, number>> = { draw: 8 * mebibyte, embed: mebibyte };

/** The part of the runner's memory for answers that is reserved for one try of a line. */
export class LineMemory {
  readonly #room: MemoryBudget;
  #taken = 0;

  constructor(room: MemoryBudget) {
    this.#room = room;
  }

  /**
   * Reserves the bytes that an answer is likely to need.
   * @throws RouterError `overloaded` if there is not enough memory
   */
  take(operation: ModelOperation): void {
    const bytes = answerBytes[operation] ?? 0;
    if (bytes === 0) return;
    if (!this.#room.take(bytes))
      throw new RouterError('overloaded', 'The answers of batches take too much memory.', { retryAfter: 1 });
    this.#taken += bytes;
  }

  release(): void {
    this.#room.release(this.#taken);
    this.#taken = 0;
  }
}
