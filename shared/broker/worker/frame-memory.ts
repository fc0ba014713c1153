/** Bytes of one block. */
const blockBytes = 256 * 1024;

/** Buffers of half a pool and more have memory of their own. */
const maxCopiedBytes = Buffer.poolSize / 2;

/** Blocks that may wait for new frames. */
const maxFreeBlocks = 16;

/** Bytes of kept frames at most, unless decided otherwise. */
const defaultMaxBytes = 64 * 1024 * 1024;

/** Share of the bytes at which there is no room for further ones, and at which there is again. */
const fullShare = 0.75;
const roomyShare = 0.5;

interface Block {
  bytes: Buffer;
  /** Bytes from the start that were given out. */
  used: number;
  /** Frames in it that were not released. */
  frames: number;
}

/** A frame's bytes. */
export interface KeptFrame {
  readonly length: number;
  /**
   * The bytes, in memory that is never written to again.
   * @throws after `release`
   */
  read(): Uint8Array;
  /** Gives its memory to frames to come. May be called again. */
  release(): void;
}

/**
 * Holds the bytes of sent frames of all answers for as long as they may be asked for again: a second or so, longer while their
 * ingress is out of reach. When there is no room left, handlers pause.
 *
 * Small buffers of Node share memory with others of their time, so a frame that is simply held keeps many times its own
 * length, and for so long that all of it reaches the old generation of the heap, which only full collections clear. Here such
 * frames are copied into blocks that are filled again and again. A block is never handed out: what is read is a copy, so that
 * no answer can show bytes of a later one.
 * See docs/decisions/0004-frame-memory.md.
 */
export class FrameMemory {
  readonly #free: Block[] = [];
  readonly #maxBytes: number;
  #current = newBlock();
  #frames = 0;
  #bytes = 0;
  #roomy: PromiseWithResolvers<void> | undefined;

  /** @param maxBytes bytes of kept frames at most */
  constructor(maxBytes = defaultMaxBytes) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes of frames that were not released yet. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether it holds more than it may, so that the oldest frames have to go. */
  get isOver(): boolean {
    return this.#bytes > this.#maxBytes;
  }

  /** Resolves when there is room for further frames; undefined while there is. */
  room(): Promise<void> | undefined {
    if (this.#bytes < this.#maxBytes * fullShare) return undefined;
    this.#roomy ??= Promise.withResolvers();
    return this.#roomy.promise;
  }

  /** Frames in its blocks that were not released yet. */
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

  /** So many bytes were released. Only for frames themselves. */
  releasedBytes(length: number): void {
    this.#bytes -= length;
    if (!this.#roomy || this.#bytes > this.#maxBytes * roomyShare) return;
    this.#roomy.resolve();
    this.#roomy = undefined;
  }

  /** A frame of this block was released. Only for frames themselves. */
  releasedFrame(block: Block): void {
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
    this.#memory.releasedFrame(block);
    this.#memory.releasedBytes(this.length);
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
    if (this.#bytes) this.#memory.releasedBytes(this.length);
    this.#bytes = undefined;
  }
}
