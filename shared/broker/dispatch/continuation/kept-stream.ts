import type { Payload } from './payload.ts';

/** Bytes of the first block of a copy, and of the largest: each next one is twice as large. */
const firstBlock = 4 * 1024;
const largestBlock = 128 * 1024;

/** Bytes of an answer that are kept at most. */
const mostRelayed = 4 * 1024 * 1024;

/**
 * What one stream needs to continue on another worker: the body of its request, and a copy of all bytes of the answer that were
 * relayed, in the client's format. The pieces that come from the broker are parts of its read buffers, which a view would keep alive.
 */
export class KeptStream implements Payload {
  #body: Buffer | undefined;
  readonly #take: (bytes: number) => boolean;
  readonly #release: () => void;
  /** All full but the last one. */
  #blocks: Buffer[] = [];
  /** Bytes of the last block that are in use. */
  #used = 0;
  #relayedBytes = 0;
  #isLetGo = false;

  /**
   * @param take takes so many bytes of the memory for all answers; false if there is no room
   * @param release gives back all that was taken
   */
  constructor(body: Buffer, take: (bytes: number) => boolean, release: () => void) {
    this.#body = body;
    this.#take = take;
    this.#release = release;
  }

  /** Whether it was let go: the stream cannot continue. */
  get isLetGo(): boolean {
    return this.#isLetGo;
  }

  /** Of the request; undefined once it was let go. */
  get body(): Buffer | undefined {
    return this.#body;
  }

  get relayedBytes(): number {
    return this.#relayedBytes;
  }

  /** Of the body and the relayed bytes. */
  get length(): number {
    return (this.#body?.length ?? 0) + this.#relayedBytes;
  }

  /** Copies a relayed piece. Lets the stream go if there is no room for it. */
  add(piece: Uint8Array): void {
    if (this.#isLetGo) return;
    if (this.#relayedBytes + piece.length > mostRelayed) return this.letGo();
    let rest = piece;
    while (rest.length > 0) {
      const block = this.#blockWithRoom();
      if (!block) return this.letGo();
      const part = rest.length <= block.length - this.#used ? rest : rest.subarray(0, block.length - this.#used);
      block.set(part, this.#used);
      this.#used += part.length;
      this.#relayedBytes += part.length;
      rest = rest.subarray(part.length);
    }
  }

  /** The request's body and the relayed bytes behind it, as a worker gets them that is to continue. */
  bytes(): Buffer {
    return Buffer.concat(this.#body ? [this.#body, ...this.#blocks] : [], this.length);
  }

  /** Releases everything. May be called again. */
  letGo(): void {
    if (this.#isLetGo) return;
    this.#isLetGo = true;
    this.#body = undefined;
    this.#blocks = [];
    this.#relayedBytes = 0;
    this.#release();
  }

  #blockWithRoom(): Buffer | undefined {
    const last = this.#blocks.at(-1);
    if (last && this.#used < last.length) return last;
    const bytes = last ? Math.min(largestBlock, 2 * last.length) : firstBlock;
    if (!this.#take(bytes)) return undefined;
    // Not of the pool, whose memory others share.
    const block = Buffer.allocUnsafeSlow(bytes);
    this.#blocks.push(block);
    this.#used = 0;
    return block;
  }
}
