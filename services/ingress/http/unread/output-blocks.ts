/** Bytes of a block. */
export const blockBytes = 16 * 1024;

/** Bytes of one slab: more than the 32 MiB up to which glibc may put what it allocates into a heap that never shrinks. */
const slabBytes = 33 * 1024 * 1024;

/** Blocks that stay, which is what ordinary traffic uses. */
const keptBlocks = 64;

/** Milliseconds from the end of a flood until its memory goes back to the system. */
const idleMs = 10_000;

/**
 * The memory of output on its way to clients: blocks that are filled again and again. They lie in slabs, of which only the
 * parts that were used take memory, and which go back to the system as a whole. Buffers of their own would outlive the streams that
 * they were for until the next full collection, and leave gaps in the heap of the process that it keeps.
 * See docs/decisions/0007-node-flags.md.
 */
export class OutputBlocks {
  #slabs: ArrayBuffer[] = [];
  #free: Buffer[] = [];
  /** Bytes of the last slab that were made blocks. */
  #cut = slabBytes;
  #used = 0;
  #isReleasing = false;

  /** A block, with bytes of earlier output in it. */
  take(): Buffer {
    this.#used += 1;
    return this.#free.pop() ?? this.#cutNext();
  }

  /** Takes back a block that nothing refers to any more, the socket included. */
  give(block: Buffer): void {
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
    // What is transferred away is freed at once, not at the next full collection.
    for (const slab of this.#slabs) slab.transfer(0);
    this.#slabs = [];
    this.#free = [];
    this.#cut = slabBytes;
  }
}
