import { KeptStream } from './kept-stream.ts';

/** The part of the container's memory that kept streams may take by default, and the most that they take. */
const defaultShare = 1 / 8;
const defaultMost = 256 * 1024 * 1024;

/** The part of all memory that one stream may take. */
const shareOfOne = 1 / 4;

/** The default of `CONTINUE_BYTES`. @param memoryBytes the container's memory limit; 0 if it is not known */
export function defaultContinueBytes(memoryBytes: number): number {
  return memoryBytes === 0 ? defaultMost : Math.min(defaultMost, Math.floor(memoryBytes * defaultShare));
}

/**
 * The memory for what streams need to continue on another worker: their requests, and copies of what was relayed. It is bounded in
 * sum. A stream that finds no room is not kept, and one that outgrows it is let go: it then ends with its worker.
 */
export class ContinuationMemory {
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes that are kept now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Keeps a stream that begins. @returns undefined if there is no room for the body of its request */
  open(body: Buffer): KeptStream | undefined {
    const most = Math.floor(this.#maxBytes * shareOfOne);
    let taken = 0;
    const take = (bytes: number): boolean => {
      if (taken + bytes > most || this.#bytes + bytes > this.#maxBytes) return false;
      taken += bytes;
      this.#bytes += bytes;
      return true;
    };
    if (!take(body.length)) return undefined;
    return new KeptStream(body, take, () => (this.#bytes -= taken));
  }
}
