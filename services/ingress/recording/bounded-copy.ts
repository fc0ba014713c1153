import type { StoreQueueBudget } from '#shared/serving/stored/store-queue-budget.ts';

/** Copies the first bytes of a body or an answer, up to its own bound and the bound of all copies together. */
export class BoundedCopy {
  readonly #most: number;
  readonly #room: Pick<StoreQueueBudget, 'take' | 'release'>;
  #pieces: Uint8Array[] = [];
  #kept = 0;
  #bytes = 0;

  /** @param maxBytes largest number of bytes that are copied */
  constructor(maxBytes: number, room: Pick<StoreQueueBudget, 'take' | 'release'>) {
    this.#most = maxBytes;
    this.#room = room;
  }

  /** Number of bytes that were added, whether or not they were copied. */
  get bytes(): number {
    return this.#bytes;
  }

  get isCut(): boolean {
    return this.#kept < this.#bytes;
  }

  /** Adds bytes, and copies them if they fit. The caller may reuse their memory afterwards. */
  add(bytes: Uint8Array): void {
    const isWhole = !this.isCut;
    this.#bytes += bytes.length;
    if (!isWhole || bytes.length === 0) return;
    const kept = bytes.subarray(0, this.#most - this.#kept);
    if (kept.length === 0 || !this.#room.take(kept.length)) return;
    this.#kept += kept.length;
    this.#pieces.push(Uint8Array.from(kept));
  }

  /** Joins the pieces and returns the result. Drops the pieces themselves, because both together would need twice the memory. */
  join(): Buffer {
    const whole = Buffer.concat(this.#pieces);
    this.#pieces = [whole];
    return whole;
  }

  /** Discards the copied bytes, and releases their memory. */
  release(): void {
    this.#room.release(this.#kept);
    this.#pieces = [];
    this.#kept = 0;
  }
}
