/**
 * One in so many bytes of what a process may use; infinite without a limit.
 * @param memoryBytes the limit; 0 without one
 */
export function shareOfMemory(parts: number, memoryBytes: number): number {
  return memoryBytes > 0 ? Math.floor(memoryBytes / parts) : Number.POSITIVE_INFINITY;
}

/** Memory that all work of a kind shares in this process, so that it is bounded in sum. */
export class MemoryBudget {
  readonly #max: number;
  #taken = 0;
  /** How often there was no room. */
  refusals = 0;

  /** @param max how much there is; infinite without a bound */
  constructor(max: number) {
    this.#max = max;
  }

  /** Takes some of it. The first one gets it however much it is. @returns false if there is no room */
  take(amount: number): boolean {
    if (this.#taken > 0 && this.#taken + amount > this.#max) {
      this.refusals += 1;
      return false;
    }
    this.#taken += amount;
    return true;
  }

  /** Gives back what was taken. */
  give(amount: number): void {
    this.#taken -= amount;
  }
}
