/** Bytes of the first block of a copy. Each further block is twice as large as the one before. */
const firstBlockBytes = 4 * 1024;
/** Maximum bytes of a block. */
const maxBlockBytes = 128 * 1024;

/** Maximum bytes of the copy of one answer. */
const maxRelayedBytes = 4 * 1024 * 1024;

/**
 * Keeps the data with which one stream can continue on another worker: the body of its request, and a copy of all relayed bytes of the
 * answer in the client's format. The bytes are copied, because the pieces are views of the connection's read buffers, and a kept view would
 * keep a whole buffer alive.
 */
export class KeptStream implements Payload {
  #body: Buffer | undefined;
  readonly #reserve: (bytes: number) => boolean;
  readonly #release: () => void;
  /** The copy of the answer. All blocks except the last one are full. */
  #blocks: Buffer[] = [];
  #usedBytes = 0;
  #relayedBytes = 0;
  #isDropped = false;

  /**
   * @param reserve reserves bytes of the continuation memory; returns false if there is no room
   * @param release releases all reserved bytes
   */
  constructor(body: Buffer, reserve: (bytes: number) => boolean, release: () => void) {
    this.#body = body;
    this.#reserve = reserve;
    this.#release = release;
  }

  get isDropped(): boolean {
    return this.#isDropped;
  }

  /** The request's body; undefined after the stream was dropped. */
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
    if (this.#isDropped) return;
    if (this.#relayedBytes + piece.length > maxRelayedBytes) return this.drop();
    let rest = piece;
    while (rest.length > 0) {
      const block = this.#findOrCreateBlock();
      if (!block) return this.drop();
      const part =
        rest.length <= block.length - this.#usedBytes ? rest : rest.subarray(0, block.length - this.#usedBytes);
      block.set(part, this.#usedBytes);
      this.#usedBytes += part.length;
      this.#relayedBytes += part.length;
      rest = rest.subarray(part.length);
    }
  }

  /** Returns the request's body followed by the relayed bytes: the payload for a worker that continues the stream. */
  toBuffer(): Buffer {
    return Buffer.concat(this.#body ? [this.#body, ...this.#blocks] : [], this.length);
  }

  /** Drops the stream and releases its memory. A second call does nothing. */
  drop(): void {
    if (this.#isDropped) return;
    this.#isDropped = true;
    this.#body = undefined;
    this.#blocks = [];
    this.#relayedBytes = 0;
    this.#release();
  }

  #findOrCreateBlock(): Buffer | undefined {
    const last = this.#blocks.at(-1);
    if (last && this.#usedBytes < last.length) return last;
    const bytes = last ? Math.min(maxBlockBytes, 2 * last.length) : firstBlockBytes;
    if (!this.#reserve(bytes)) return undefined;
    // A small buffer would share memory with other buffers in the pool of Node, and would keep that memory alive.
    const block = Buffer.allocUnsafeSlow(bytes);
    this.#blocks.push(block);
    this.#usedBytes = 0;
    return block;
  }
}

/**
 * The bytes that a worker gets with a grant: the request's body and, if a stream is to be continued, the part of the answer that the client
 * already has.
 */
export interface Payload {
  readonly length: number;
  /**
   * The length in bytes of the part of the answer that the client already has, at the end of the payload; undefined for an answer that has
   * not begun.
   */
  readonly relayedBytes: number | undefined;
  toBuffer(): Buffer;
}

const emptyBytes: Buffer = Buffer.alloc(0);

export function createPayload(body = emptyBytes): Payload {
  return { length: body.length, relayedBytes: undefined, toBuffer: () => body };
}
