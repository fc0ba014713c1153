import { RouterError } from '#shared/core/errors.ts';
import { heavyBytes, type HeavyTask } from './heavy-work.ts';
import type { MemoryBudget } from '#shared/core/memory-budget.ts';

/** The memory of a request with everything that it refers to, and the heavy work on it. */
export class HeldRequest {
  readonly #bodies: MemoryBudget;
  readonly #heavy: HeavyTask;
  #bytes = 0;

  /** @param bodies memory budget of all requests of this process */
  constructor(bodies: MemoryBudget, heavy: HeavyTask) {
    this.#bodies = bodies;
    this.#heavy = heavy;
  }

  /**
   * Takes bytes before they are used. From `heavyBytes` in total, the work on the request counts as heavy.
   * @throws RouterError `overloaded` without enough memory, or the errors of `begin`
   */
  readonly take = async (bytes: number): Promise<void> => {
    if (!this.#bodies.take(bytes))
      throw new RouterError('overloaded', 'The requests of batches and in the background take too much memory.', {
        retryAfter: 2,
      });
    this.#bytes += bytes;
    await this.beginIfLarge();
  };

  /** Begins heavy work on the request. @throws RouterError `workers_died` if two processes have ended with it, `store_unavailable` */
  async beginHeavyWork(): Promise<void> {
    const setAside = await this.#heavy.begin();
    if (setAside) throw setAside;
  }

  /** Begins heavy work if the request is large. @throws the errors of `begin` */
  async beginIfLarge(): Promise<void> {
    if (this.#bytes >= heavyBytes) await this.beginHeavyWork();
  }

  /** Ends the heavy work: the request waits, or a worker has it. */
  end(): void {
    this.#heavy.end();
  }

  release(): void {
    this.end();
    this.#bodies.release(this.#bytes);
    this.#bytes = 0;
  }
}
