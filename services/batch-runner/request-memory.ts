import { RouterError } from '#shared/core/errors.ts';
import { heavyBytes, type HeavyTask } from './heavy-work.ts';
import type { MemoryBudget } from '#shared/core/memory-budget.ts';

/** Reserves the memory of one request and of everything that it refers to. Also begins and ends the heavy work on it. */
export class RequestMemory {
  readonly #requestBudget: MemoryBudget;
  readonly #heavyTask: HeavyTask;
  /** Bytes that the caller has reserved for the request, and that `grow` has not used yet. */
  #reserved: number;
  #size = 0;
  #takenBytes = 0;

  /**
   * @param requestBudget memory budget of all requests of this process
   * @param reserved bytes of the budget that the caller has reserved for the request, and that it releases itself
   */
  constructor(requestBudget: MemoryBudget, heavyTask: HeavyTask, reserved = 0) {
    this.#requestBudget = requestBudget;
    this.#heavyTask = heavyTask;
    this.#reserved = reserved;
  }

  /**
   * Reserves memory for bytes that are about to be read. Once the request has `heavyBytes` or more, working on it counts as heavy work (see
   * `HeavyWork`).
   * @throws RouterError `overloaded` if there is not enough memory, or as `beginHeavyWork` does
   */
  async grow(bytes: number): Promise<void> {
    const missing = Math.max(0, bytes - this.#reserved);
    if (missing > 0 && !this.#requestBudget.take(missing))
      throw new RouterError('overloaded', 'The requests of batches and in the background take too much memory.', {
        retryAfter: 2,
      });
    this.#reserved -= bytes - missing;
    this.#takenBytes += missing;
    this.#size += bytes;
    await this.beginIfLarge();
  }

  /**
   * Begins heavy work on the request.
   * @throws RouterError `workers_died` if two processes died while they worked on the request; `store_unavailable`
   */
  async beginHeavyWork(): Promise<void> {
    const refusal = await this.#heavyTask.begin();
    if (refusal) throw refusal;
  }

  /**
   * Begins heavy work if the request is large.
   * @throws RouterError as `beginHeavyWork` does
   */
  async beginIfLarge(): Promise<void> {
    if (this.#size >= heavyBytes) await this.beginHeavyWork();
  }

  /** Ends the heavy work. To be called before the request waits, or once a worker has it. */
  endHeavyWork(): void {
    this.#heavyTask.end();
  }

  release(): void {
    this.endHeavyWork();
    this.#requestBudget.release(this.#takenBytes);
    this.#takenBytes = 0;
  }
}
