import { RouterError } from '#shared/core/errors.ts';
import { heavyBytes, type HeavyTask } from './heavy-work.ts';
import { type MemoryBudget, computeMemoryShare } from '#shared/core/memory-budget.ts';

/**
 * Computes the most bytes that all requests of a process may have together: four times the largest body, but at most a sixteenth of the
 * memory, because each request is in memory several times. A single larger request is accepted while there is no other.
 * @param memoryBytes memory limit of this process; 0 if it has none
 */
export function computeRequestBudget(maxBodyBytes: number, memoryBytes: number): number {
  return Math.min(4 * maxBodyBytes, computeMemoryShare(16, memoryBytes));
}

/** Reserves the memory of one request and of everything that it refers to. Also begins and ends the heavy work on the request. */
export class RequestMemory {
  readonly #requestBudget: MemoryBudget;
  readonly #heavyTask: HeavyTask;
  /** Bytes that the caller has reserved for the request, and that `grow` has not used yet. */
  #reservedBytes: number;
  #requestBytes = 0;
  #takenBytes = 0;

  /**
   * @param requestBudget memory budget of all requests of this process
   * @param reservedBytes bytes of the budget that the caller has reserved for the request, and releases itself
   */
  constructor(requestBudget: MemoryBudget, heavyTask: HeavyTask, reservedBytes = 0) {
    this.#requestBudget = requestBudget;
    this.#heavyTask = heavyTask;
    this.#reservedBytes = reservedBytes;
  }

  /**
   * Reserves memory for bytes that are about to be read. Once the request has `heavyBytes` or more, working on it counts as heavy work (see
   * `HeavyWork`).
   * @throws RouterError `overloaded` if there is not enough memory, or as `beginHeavyWork` does
   */
  async grow(bytes: number): Promise<void> {
    const missingBytes = Math.max(0, bytes - this.#reservedBytes);
    if (missingBytes > 0 && !this.#requestBudget.take(missingBytes))
      throw new RouterError('overloaded', 'The requests of batches and in the background take too much memory.', {
        retryAfter: 2,
      });
    this.#reservedBytes -= bytes - missingBytes;
    this.#takenBytes += missingBytes;
    this.#requestBytes += bytes;
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
    if (this.#requestBytes >= heavyBytes) await this.beginHeavyWork();
  }

  /** Ends the heavy work. Call it before the request waits, or once a worker has the request. */
  endHeavyWork(): void {
    this.#heavyTask.end();
  }

  release(): void {
    this.endHeavyWork();
    this.#requestBudget.release(this.#takenBytes);
    this.#takenBytes = 0;
  }
}
