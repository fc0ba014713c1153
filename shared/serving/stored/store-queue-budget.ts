/** The part of a `StoreQueueBudget` that one owner may take. */
export interface StoreQueueShare {
  /**
   * Takes memory for `bytes`.
   * @returns false if there is too little memory
   */
  take: (bytes: number) => boolean;
  release: (bytes: number) => void;
}

/**
 * Limits the memory of all answers, or recordings, that wait to be stored. Many answers may end at once while Redis is slow. An answer
 * without room is sent to the client and not stored. The memory is shared among owners: if an owner has taken some already, it gets more
 * only if the memory that then stays free is at least as much as the owner has.
 */
export class StoreQueueBudget {
  readonly #max: number;
  /** By owner; contains only owners that have taken memory. */
  readonly #takenByOwner = new Map<string, number>();
  #taken = 0;

  /** @param max maximum bytes of all answers together */
  constructor(max: number) {
    this.#max = max;
  }

  get taken(): number {
    return this.#taken;
  }

  /** @param owner see `findStoreOwner` */
  openShare(owner: string): StoreQueueShare {
    return {
      take: (bytes) => {
        const ofOwner = this.#takenByOwner.get(owner) ?? 0;
        const free = this.#max - this.#taken - bytes;
        if (free < 0 || (ofOwner > 0 && ofOwner + bytes > free)) return false;
        this.#add(owner, bytes);
        return true;
      },
      release: (bytes) => this.#add(owner, -bytes),
    };
  }

  #add(owner: string, bytes: number): void {
    const ofOwner = (this.#takenByOwner.get(owner) ?? 0) + bytes;
    if (ofOwner > 0) this.#takenByOwner.set(owner, ofOwner);
    else this.#takenByOwner.delete(owner);
    this.#taken += bytes;
  }
}
