import type { StoringRoom } from '#shared/serving/stored/storing-room.ts';

/** Keeps a copy of the first bytes of something, within its own bound and the room of all. */
export class CutBytes {
  readonly #most: number;
  readonly #room: Pick<StoringRoom, 'take' | 'give'>;
  #pieces: Uint8Array[] = [];
  #kept = 0;
  #bytes = 0;

  /** @param most bytes that are kept at most */
  constructor(most: number, room: Pick<StoringRoom, 'take' | 'give'>) {
    this.#most = most;
    this.#room = room;
  }

  /** Bytes that there were. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether not all of them were kept. */
  get isCut(): boolean {
    return this.#kept < this.#bytes;
  }

  /** The owner of the memory may reuse it afterwards. */
  add(bytes: Uint8Array): void {
    const isWhole = !this.isCut;
    this.#bytes += bytes.length;
    if (!isWhole || bytes.length === 0) return;
    const kept = bytes.subarray(0, this.#most - this.#kept);
    if (kept.length === 0 || !this.#room.take(kept.length)) return;
    this.#kept += kept.length;
    this.#pieces.push(Uint8Array.from(kept));
  }

  /** What is kept, as one piece in place of the others: both together would take twice the room. */
  joined(): Buffer {
    const whole = Buffer.concat(this.#pieces);
    this.#pieces = [whole];
    return whole;
  }

  /** Gives the room back. What was kept is gone. */
  release(): void {
    this.#room.give(this.#kept);
    this.#pieces = [];
    this.#kept = 0;
  }
}
