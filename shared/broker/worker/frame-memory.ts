const blockBytes = 256 * 1024;

/** Node allocates buffers of half a pool and more outside its pool, so these need no copy. */
const maxCopiedBytes = Buffer.poolSize / 2;

const maxFreeBlocks = 16;

const defaultMaxBytes = 64 * 1024 * 1024;

/** The share of the maximum from which there is no room for further frames. */
const fullShare = 0.75;
/** The share of the maximum below which there is room again. */
const roomyShare = 0.5;

interface Block {
  bytes: Buffer;
  used: number;
  frames: number;
}

export interface KeptFrame {
  readonly length: number;
  /**
   * Returns the bytes, in memory that is never written to again.
   * @throws after `release`
   */
  read(): Uint8Array;
  /** Frees the memory for later frames. May be called again. */
  release(): void;
}

/**
 * Keeps the sent frames of all answers for as long as dispatchers may request them again. That is about a second, or longer while a
 * dispatcher is out of reach. When the memory is full, handlers pause.
 *
 * Node's small buffers share memory with other buffers that were allocated at about the same time. A frame that is simply kept therefore
 * keeps many times its own length alive. It lives long enough to reach the old generation of the heap, which only full collections clear.
 * This class copies such frames into blocks and fills the blocks again and again. It never hands out a block. `read` returns a copy, so
 * that no answer can show bytes of a later one.
 * See docs/decisions/0004-frame-memory.md.
 */
export class FrameMemory {
  readonly #free: Block[] = [];
  readonly #maxBytes: number;
  #current = newBlock();
  #frames = 0;
  #bytes = 0;
  #roomy: PromiseWithResolvers<void> | undefined;

  /** @param maxBytes maximum bytes of kept frames */
  constructor(maxBytes = defaultMaxBytes) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether it keeps more than the maximum, so that the oldest frames must be dropped. */
  get isOver(): boolean {
    return this.#bytes > this.#maxBytes;
  }

  /** Resolves when there is room for further frames. Undefined if there is room now. */
  room(): Promise<void> | undefined {
    if (this.#bytes < this.#maxBytes * fullShare) return undefined;
    this.#roomy ??= Promise.withResolvers();
    return this.#roomy.promise;
  }

  get frames(): number {
    return this.#frames;
  }

  keep(bytes: Uint8Array): KeptFrame {
    const { length } = bytes;
    this.#bytes += length;
    if (length > maxCopiedBytes) return new OwnFrame(this, bytes);
    if (this.#current.used + length > blockBytes) this.#nextBlock();
    const block = this.#current;
    const start = block.used;
    block.bytes.set(bytes, start);
    block.used += length;
    block.frames += 1;
    this.#frames += 1;
    return new BlockFrame(this, block, start, length);
  }

  /** Counts released bytes. Only frames call it. */
  onBytesReleased(length: number): void {
    this.#bytes -= length;
    if (!this.#roomy || this.#bytes > this.#maxBytes * roomyShare) return;
    this.#roomy.resolve();
    this.#roomy = undefined;
  }

  /** Counts a released frame of a block. Only frames call it. */
  onFrameReleased(block: Block): void {
    block.frames -= 1;
    this.#frames -= 1;
    if (block.frames > 0) return;
    block.used = 0;
    if (block !== this.#current && this.#free.length < maxFreeBlocks) this.#free.push(block);
  }

  #nextBlock(): void {
    this.#current = this.#free.pop() ?? newBlock();
  }
}

function newBlock(): Block {
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

class OwnFrame implements KeptFrame {
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
