import { RouterError } from '#shared/core/errors.ts';
import { heavyBytes, type HeavyPiece } from './heavy-work.ts';
import type { MemoryBudget } from '#shared/core/memory-budget.ts';

/** The memory that a request takes, with all that it refers to, and the heavy work that this is. */
export class HeldRequest {
  readonly #bodies: MemoryBudget;
  readonly #heavy: HeavyPiece;
  #bytes = 0;

  /** @param bodies what the requests of this process share */
  constructor(bodies: MemoryBudget, heavy: HeavyPiece) {
    this.#bodies = bodies;
    this.#heavy = heavy;
  }

  /**
   * Takes bytes before they are used. Once there are many, the work on the request is heavy.
   * @throws RouterError `overloaded` where there are not so many, or as `begin` does
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
  async begin(): Promise<void> {
    const setAside = await this.#heavy.begin();
    if (setAside) throw setAside;
  }

  /** Begins it if the request is large. @throws as `begin` does */
  async beginIfLarge(): Promise<void> {
    if (this.#bytes >= heavyBytes) await this.begin();
  }

  /** The request waits, or is with a worker. */
  end(): void {
    this.#heavy.end();
  }

  /** Gives all memory back. */
  give(): void {
    this.end();
    this.#bodies.give(this.#bytes);
    this.#bytes = 0;
  }
}
