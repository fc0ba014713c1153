import type { StoreQueueShare } from '#shared/serving/stored/store-queue-budget.ts';

/** Copies the first bytes of a body or an answer, up to a bound for this copy and the bounds of its share of the memory for copies. */
export class BoundedCopy {
  readonly #maxBytes: number;
  readonly #share: StoreQueueShare;
  #pieces: Uint8Array[] = [];
  #copiedBytes = 0;
  #addedBytes = 0;

  /** @param maxBytes largest number of bytes that are copied */
  constructor(maxBytes: number, share: StoreQueueShare) {
    this.#maxBytes = maxBytes;
    this.#share = share;
  }

  /** Number of bytes that were added, whether or not they were copied. */
  get bytes(): number {
    return this.#addedBytes;
  }

  get isCut(): boolean {
    return this.#copiedBytes < this.#addedBytes;
  }

  /** Adds bytes, and copies them if they fit. The caller may reuse their memory afterwards. */
  add(bytes: Uint8Array): void {
    const isWhole = !this.isCut;
    this.#addedBytes += bytes.length;
    if (!isWhole || bytes.length === 0) return;
    const kept = bytes.subarray(0, this.#maxBytes - this.#copiedBytes);
    if (kept.length === 0 || !this.#share.take(kept.length)) return;
    this.#copiedBytes += kept.length;
    this.#pieces.push(Uint8Array.from(kept));
  }

  /**
   * Joins the pieces into one buffer, and returns it. The buffer replaces the pieces, because both together would need twice the memory.
   */
  join(): Buffer {
    const whole = Buffer.concat(this.#pieces);
    this.#pieces = [whole];
    return whole;
  }

  /** Discards the copied bytes, and releases their memory. */
  release(): void {
    this.#share.release(this.#copiedBytes);
    this.#pieces = [];
    this.#copiedBytes = 0;
  }
}
