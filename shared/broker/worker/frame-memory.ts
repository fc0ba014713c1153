/** Bytes of a block, into which small frames are copied. */
const blockBytes = 256 * 1024;

/** Maximum bytes of a frame that is copied. Node allocates larger buffers outside its pool, so larger frames need no copy. */
const maxCopiedBytes = Buffer.poolSize / 2;

/** Maximum blocks that are kept for later frames. */
const maxFreeBlocks = 16;

/** Default maximum bytes of all kept frames. */
const defaultMaxBytes = 64 * 1024 * 1024;

/** The share of the maximum size above which there is no room for further frames. */
const fullShare = 0.75;
/** The share of the maximum size below which there is room again. */
const roomyShare = 0.5;

interface Block {
  bytes: Buffer;
  used: number;
  frames: number;
}

export interface KeptFrame {
  readonly length: number;
  /**
   * Returns the frame's bytes, in memory that is never written to again.
   * @throws after `release`
   */
  read(): Uint8Array;
  /** Frees the frame's memory for later frames. A second call does nothing. */
  release(): void;
}

/**
 * The memory for the sent frames of all answers. A frame is kept for as long as its dispatcher may request it again: about a second, or
 * longer while the dispatcher is out of reach. When the memory is full, handlers pause.
 *
 * Node's small buffers share memory with other buffers that were allocated at about the same time. So a small frame that is kept as it is
 * would keep many times its own length alive. It would also live long enough to reach the old generation of the heap, which only full
 * collections clear. So this class copies small frames into blocks, and reuses the blocks. It never hands out a block: `read` returns a
 * copy, so that no answer can show bytes of a later answer.
 * See docs/decisions/0004-frame-memory.md.
 */
export class FrameMemory {
  readonly #free: Block[] = [];
  readonly #maxBytes: number;
  #current = createBlock();
  #frames = 0;
  #bytes = 0;
  #whenRoomy: PromiseWithResolvers<void> | undefined;

  /** @param maxBytes maximum bytes of all kept frames */
  constructor(maxBytes = defaultMaxBytes) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes of all kept frames. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether the kept frames exceed the maximum size, so that the oldest ones must be dropped. */
  get isOverfull(): boolean {
    return this.#bytes > this.#maxBytes;
  }

  /** Returns undefined if there is room for further frames, otherwise a promise that resolves when there is room. */
  waitForRoom(): Promise<void> | undefined {
    if (this.#bytes < this.#maxBytes * fullShare) return undefined;
    this.#whenRoomy ??= Promise.withResolvers();
    return this.#whenRoomy.promise;
  }

  /** The number of kept frames that were copied into blocks. */
  get frames(): number {
    return this.#frames;
  }

  /** Keeps a frame until `release` is called on it. */
  keep(bytes: Uint8Array): KeptFrame {
    const { length } = bytes;
    this.#bytes += length;
    if (length > maxCopiedBytes) return new UncopiedFrame(this, bytes);
    if (this.#current.used + length > blockBytes) this.#useNextBlock();
    const block = this.#current;
    const start = block.used;
    block.bytes.set(bytes, start);
    block.used += length;
    block.frames += 1;
    this.#frames += 1;
    return new BlockFrame(this, block, start, length);
  }

  /** Subtracts the bytes of a released frame. Only frames call this. */
  onBytesReleased(length: number): void {
    this.#bytes -= length;
    if (!this.#whenRoomy || this.#bytes > this.#maxBytes * roomyShare) return;
    this.#whenRoomy.resolve();
    this.#whenRoomy = undefined;
  }

  /**
   * Subtracts a released frame from its block. When the last frame of a block is released, the block can be filled again. Only frames call
   * this.
   */
  onFrameReleased(block: Block): void {
    block.frames -= 1;
    this.#frames -= 1;
    if (block.frames > 0) return;
    block.used = 0;
    if (block !== this.#current && this.#free.length < maxFreeBlocks) this.#free.push(block);
  }

  #useNextBlock(): void {
    this.#current = this.#free.pop() ?? createBlock();
  }
}

function createBlock(): Block {
  return { bytes: Buffer.allocUnsafeSlow(blockBytes), used: 0, frames: 0 };
}

class BlockFrame implements KeptFrame {
  readonly #memory: FrameMemory;
  #block: Block | undefined;
  readonly #start: number;
  readonly length: number;

  constructor(memory: FrameMemory, block: Block, start: number, length: number) {
    this.#memory = memory;
    this.#block = block;
    this.#start = start;
    this.length = length;
  }

  read(): Uint8Array {
    if (!this.#block) throw new Error('a released frame was read');
    return Buffer.from(this.#block.bytes.subarray(this.#start, this.#start + this.length));
  }

  release(): void {
    const block = this.#block;
    this.#block = undefined;
    if (!block) return;
    this.#memory.onFrameReleased(block);
    this.#memory.onBytesReleased(this.length);
  }
}

class UncopiedFrame implements KeptFrame {
  readonly #memory: FrameMemory;
  #bytes: Uint8Array | undefined;
  readonly length: number;

  constructor(memory: FrameMemory, bytes: Uint8Array) {
    this.#memory = memory;
    this.#bytes = bytes;
    this.length = bytes.length;
  }

  read(): Uint8Array {
    if (!this.#bytes) throw new Error('a released frame was read');
    return this.#bytes;
  }

  release(): void {
    if (this.#bytes) this.#memory.onBytesReleased(this.length);
    this.#bytes = undefined;
  }
}
