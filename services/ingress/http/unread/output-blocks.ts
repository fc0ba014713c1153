/** Size of one block in bytes. */
export const blockBytes = 16 * 1024;

/** Size of one slab in bytes. It is above 32 MiB, because glibc may place allocations of up to 32 MiB in a heap that never shrinks. */
const slabBytes = 33 * 1024 * 1024;

/** The memory of the blocks is not released to the system if there are at most this many. Ordinary traffic needs no more. */
const keptBlocks = 64;

/** Milliseconds after all blocks are free until their memory is released to the system. */
const idleMs = 10_000;

/**
 * Reusable blocks of memory for output on its way to clients. The blocks are parts of slabs. Only the parts of a slab that were used need
 * memory. A slab is released to the system as a whole. Separate buffers would stay in memory after their streams until the next full
 * garbage collection, and would leave gaps in the heap that the process keeps. See docs/decisions/0007-node-flags.md.
 */
export class OutputBlocks {
  #slabs: ArrayBuffer[] = [];
  #free: Buffer[] = [];
  /** Number of bytes of the last slab that are divided into blocks. */
  #cutBytes = slabBytes;
  #used = 0;
  #isReleasing = false;

  /** Returns a free block, which still contains bytes of earlier output. */
  take(): Buffer {
    this.#used += 1;
    return this.#free.pop() ?? this.#cutNext();
  }

  /** Returns a block to the pool. No object may refer to it any more, not even the socket. */
  release(block: Buffer): void {
    this.#free.push(block);
    this.#used -= 1;
    if (this.#used > 0 || this.#free.length <= keptBlocks || this.#isReleasing) return;
    this.#isReleasing = true;
    setTimeout(() => this.#release(), idleMs).unref();
  }

  #cutNext(): Buffer {
    const last = this.#slabs.at(-1);
    const slab = last && this.#cutBytes + blockBytes <= slabBytes ? last : this.#addSlab();
    const block = Buffer.from(slab, this.#cutBytes, blockBytes);
    this.#cutBytes += blockBytes;
    return block;
  }

  #addSlab(): ArrayBuffer {
    const slab = new ArrayBuffer(slabBytes);
    this.#slabs.push(slab);
    this.#cutBytes = 0;
    return slab;
  }

  #release(): void {
    this.#isReleasing = false;
    if (this.#used > 0) return;
    // `transfer` frees the memory at once. Otherwise it would be freed at the next full garbage collection.
    for (const slab of this.#slabs) slab.transfer(0);
    this.#slabs = [];
    this.#free = [];
    this.#cutBytes = slabBytes;
  }
}
