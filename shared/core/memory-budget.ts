/**
 * Computes the size of one of `parts` equal parts of the memory limit; infinite if there is no limit.
 * @param memoryBytes the limit; 0 if there is none
 */
export function computeMemoryShare(parts: number, memoryBytes: number): number {
  return memoryBytes > 0 ? Math.floor(memoryBytes / parts) : Number.POSITIVE_INFINITY;
}

/** A memory limit that all work of one kind in this process shares. */
export class MemoryBudget {
  readonly max: number;
  #taken = 0;
  /** The number of refused requests for memory. */
  refusals = 0;

  /** @param max the limit; infinite if there is none */
  constructor(max: number) {
    this.max = max;
  }

  get taken(): number {
    return this.#taken;
  }

  /**
   * Takes an amount of memory, in bytes. While nobody else has any, any amount fits.
   * @param ownAmount the amount that the caller has taken already
   * @returns false if there is no room
   */
  take(amount: number, ownAmount = 0): boolean {
    if (this.#taken > ownAmount && this.#taken + amount > this.max) {
      this.refusals += 1;
      return false;
    }
    this.#taken += amount;
    return true;
  }

  /** Gives back an amount that `take` has taken. */
  release(amount: number): void {
    this.#taken -= amount;
  }
}
