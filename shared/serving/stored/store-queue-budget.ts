/**
 * Limits the memory of all answers that wait to be stored. Many answers may end at once while Redis is slow. An answer without room is sent
 * to the client and not stored.
 */
export class StoreQueueBudget {
  readonly #max: number;
  #taken = 0;

  /** @param max maximum bytes of all answers together */
  constructor(max: number) {
    this.#max = max;
  }

  get taken(): number {
    return this.#taken;
  }

  /**
   * Takes memory for `bytes`.
   * @returns false if there is too little memory
   */
  take(bytes: number): boolean {
    if (this.#taken + bytes > this.#max) return false;
    this.#taken += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#taken -= bytes;
  }
}
