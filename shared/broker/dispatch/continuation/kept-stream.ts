import type { Payload } from './payload.ts';

/** Bytes of the first block of a copy. Each further block is twice as large as the one before. */
const firstBlock = 4 * 1024;
/** Maximum bytes of a block. */
const largestBlock = 128 * 1024;

const maxRelayed = 4 * 1024 * 1024;

/**
 * Keeps the data with which one stream can continue on another worker: the body of its request, and a copy of all relayed bytes of the
 * answer in the client's format. It copies the bytes, because the pieces from the broker are views of its read buffers, which a kept view
 * would keep alive.
 */
export class KeptStream implements Payload {
  #body: Buffer | undefined;
  readonly #take: (bytes: number) => boolean;
  readonly #release: () => void;
  /** All blocks but the last one are full. */
  #blocks: Buffer[] = [];
  #used = 0;
  #relayedBytes = 0;
  #isLetGo = false;

  /**
   * @param take reserves bytes of the memory for all answers; returns false if there is no room
   * @param release releases all reserved bytes
   */
  constructor(body: Buffer, take: (bytes: number) => boolean, release: () => void) {
    this.#body = body;
    this.#take = take;
    this.#release = release;
  }

  get isDropped(): boolean {
    return this.#isLetGo;
  }

  /** The request's body; undefined once the stream was dropped. */
  get body(): Buffer | undefined {
    return this.#body;
  }

  get relayedBytes(): number {
    return this.#relayedBytes;
  }

  /** Bytes of the body and the relayed answer. */
  get length(): number {
    return (this.#body?.length ?? 0) + this.#relayedBytes;
  }

  /** Copies a relayed piece. Drops the stream if there is no room for it. */
  add(piece: Uint8Array): void {
    if (this.#isLetGo) return;
    if (this.#relayedBytes + piece.length > maxRelayed) return this.drop();
    let rest = piece;
    while (rest.length > 0) {
      const block = this.#blockWithRoom();
      if (!block) return this.drop();
      const part = rest.length <= block.length - this.#used ? rest : rest.subarray(0, block.length - this.#used);
      block.set(part, this.#used);
      this.#used += part.length;
      this.#relayedBytes += part.length;
      rest = rest.subarray(part.length);
    }
  }

  /** Returns the request's body followed by the relayed bytes: the payload for a worker that continues the stream. */
  bytes(): Buffer {
    return Buffer.concat(this.#body ? [this.#body, ...this.#blocks] : [], this.length);
  }

  /** Drops the stream and releases its memory. May be called again. */
  drop(): void {
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
    // Not from Node's pool, whose memory other buffers share.
    const block = Buffer.allocUnsafeSlow(bytes);
    this.#blocks.push(block);
    this.#used = 0;
    return block;
  }
}
