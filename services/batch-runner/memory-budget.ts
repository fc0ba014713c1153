/**
 * Bytes of the requests that a process works on: four of the largest, but an eighth of what the process may use. Each is in memory several
 * times.
 * @param memoryBytes what this process may use; 0 without a limit
 */
export function requestBytes(maxBodyBytes: number, memoryBytes: number): number {
  const bytes = 4 * maxBodyBytes;
  return memoryBytes > 0 ? Math.min(bytes, memoryBytes / 8) : bytes;
}

/** Memory that all requests of a kind share in this process, so that it is bounded in sum. */
export class MemoryBudget {
  readonly #most: number;
  #taken = 0;
  /** How often there was no room. */
  refusals = 0;

  /** @param most how much there is */
  constructor(most: number) {
    this.#most = most;
  }

  /** Takes some of it. The first one gets it however much it is. @returns false if there is no room */
  take(amount: number): boolean {
    if (this.#taken > 0 && this.#taken + amount > this.#most) {
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
