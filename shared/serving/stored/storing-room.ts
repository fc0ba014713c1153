/**
 * Limits the memory of all answers together that wait to be stored, because many may end at once while Redis is slow. An answer that finds
 * no room is sent on and not stored.
 */
export class StoreQueueBudget {
  readonly #most: number;
  #taken = 0;

  /** @param most maximum bytes of all answers together */
  constructor(most: number) {
    this.#most = most;
  }

  get taken(): number {
    return this.#taken;
  }

  /**
   * Reserves memory for `bytes`.
   * @returns false if there is too little
   */
  take(bytes: number): boolean {
    if (this.#taken + bytes > this.#most) return false;
    this.#taken += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#taken -= bytes;
  }
}
