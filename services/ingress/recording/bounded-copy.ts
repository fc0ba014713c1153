import type { StoreQueueBudget } from '#shared/serving/stored/storing-room.ts';

/** Copies the first bytes of a body or an answer, within its own bound and the shared room. */
export class BoundedCopy {
  readonly #most: number;
  readonly #room: Pick<StoreQueueBudget, 'take' | 'release'>;
  #pieces: Uint8Array[] = [];
  #kept = 0;
  #bytes = 0;

  /** @param maxBytes bytes that are copied at most */
  constructor(maxBytes: number, room: Pick<StoreQueueBudget, 'take' | 'release'>) {
    this.#most = maxBytes;
    this.#room = room;
  }

  /** All bytes added, copied or not. */
  get bytes(): number {
    return this.#bytes;
  }

  get isCut(): boolean {
    return this.#kept < this.#bytes;
  }

  /** Adds bytes. The caller may reuse their memory afterwards. */
  add(bytes: Uint8Array): void {
    const isWhole = !this.isCut;
    this.#bytes += bytes.length;
    if (!isWhole || bytes.length === 0) return;
    const kept = bytes.subarray(0, this.#most - this.#kept);
    if (kept.length === 0 || !this.#room.take(kept.length)) return;
    this.#kept += kept.length;
    this.#pieces.push(Uint8Array.from(kept));
  }

  /** Joins the pieces and returns them. The pieces themselves are dropped, because both together would take twice the room. */
  join(): Buffer {
    const whole = Buffer.concat(this.#pieces);
    this.#pieces = [whole];
    return whole;
  }

  /** Discards the copied bytes and returns their room. */
  release(): void {
    this.#room.release(this.#kept);
    this.#pieces = [];
    this.#kept = 0;
  }
}
