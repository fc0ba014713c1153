import { RouterError } from '#shared/core/errors.ts';
import type { ModelOperation } from '#shared/core/operation.ts';
import type { MemoryBudget } from '#shared/core/memory-budget.ts';

const mebibyte = 1024 * 1024;

/** Bytes that all lines of a runner may take with their answers, as far as those are large. */
export const answerMemory = 128 * mebibyte;

/** Bytes of memory that an answer takes until it is recorded, of operations whose answers are large. */
const answerBytes: Partial<Record<ModelOperation, number>> = { draw: 8 * mebibyte, embed: mebibyte };

/** The memory that one execution of a line takes with its answer, of what all lines share. */
export class LineMemory {
  readonly #room: MemoryBudget;
  #taken = 0;

  constructor(room: MemoryBudget) {
    this.#room = room;
  }

  /** Takes what an answer is likely to need. @throws RouterError `overloaded` if there is not as much */
  take(operation: ModelOperation): void {
    const bytes = answerBytes[operation] ?? 0;
    if (bytes === 0) return;
    if (!this.#room.take(bytes))
      throw new RouterError('overloaded', 'The answers of batches take too much memory.', { retryAfter: 1 });
    this.#taken += bytes;
  }

  /** Gives all of it back. */
  give(): void {
    this.#room.give(this.#taken);
    this.#taken = 0;
  }
}
