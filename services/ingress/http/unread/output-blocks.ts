export const blockBytes = 16 * 1024;

/** Bytes of one slab. glibc may place allocations of up to 32 MiB in a heap that never shrinks; a slab is larger. */
const slabBytes = 33 * 1024 * 1024;

/** Blocks that are never released; ordinary traffic needs no more. */
const keptBlocks = 64;

/** Milliseconds from the end of a burst until its memory is released to the system. */
const idleMs = 10_000;

/**
 * Memory for output on its way to clients: blocks that are reused. They lie in slabs, of which only the used parts take memory. A slab is
 * released to the system as a whole. Separate buffers would outlive their streams until the next full collection, and would leave gaps in
 * the heap that the process keeps. See docs/decisions/0007-node-flags.md.
 */
export class OutputBlocks {
  #slabs: ArrayBuffer[] = [];
  #free: Buffer[] = [];
  /** Bytes of the last slab that are cut into blocks. */
  #cut = slabBytes;
  #used = 0;
  #isReleasing = false;

  /** Returns a free block. It still contains bytes of earlier output. */
  take(): Buffer {
    this.#used += 1;
    return this.#free.pop() ?? this.#cutNext();
  }

  /** Returns a block to the pool. Nothing may refer to it any more, the socket included. */
  release(block: Buffer): void {
    this.#free.push(block);
    this.#used -= 1;
    if (this.#used > 0 || this.#free.length <= keptBlocks || this.#isReleasing) return;
    this.#isReleasing = true;
    setTimeout(() => this.#release(), idleMs).unref();
  }

  #cutNext(): Buffer {
    const last = this.#slabs.at(-1);
    const slab = last && this.#cut + blockBytes <= slabBytes ? last : this.#addSlab();
    const block = Buffer.from(slab, this.#cut, blockBytes);
    this.#cut += blockBytes;
    return block;
  }

  #addSlab(): ArrayBuffer {
    const slab = new ArrayBuffer(slabBytes);
    this.#slabs.push(slab);
    this.#cut = 0;
    return slab;
  }

  #release(): void {
    this.#isReleasing = false;
    if (this.#used > 0) return;
    // A transferred buffer is freed at once, not at the next full collection.
    for (const slab of this.#slabs) slab.transfer(0);
    this.#slabs = [];
    this.#free = [];
    this.#cut = slabBytes;
  }
}
