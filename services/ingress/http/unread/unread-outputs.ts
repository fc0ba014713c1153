import { OutputBlocks } from './output-blocks.ts';
import { OutputBatcher } from './output-batcher.ts';

/** Largest number of unread bytes of an unfinished answer. An answer that exceeds it is ended. */
const maxBytesPerAnswer = 8 * 1024 * 1024;

/** Milliseconds without progress after which a client is disconnected if it has not read the end of its answer. */
export const unreadMs = 30_000;

/** Part of the container's memory that unread output may use. */
const memoryFraction = 1 / 8;
/** Largest bound of unread output in bytes. */
const maxBytesInAll = 32 * 1024 * 1024;

/** An answer with bytes that its client has not read yet. */
export interface UnreadOutput {
  readonly unreadBytes: number;
  /** Whether the answer is complete, so that nothing is added to it any more. */
  readonly isEnding: boolean;
  /** Ends the answer at once, and releases most of its memory. */
  giveUp: () => void;
}

/**
 * Bounds the memory of output that clients have not read, per answer and in total. If the total is exceeded, the answer with the most
 * unread bytes ends first.
 */
export class UnreadOutputs {
  readonly blocks = new OutputBlocks();
  readonly batcher = new OutputBatcher();
  readonly #maxBytes: number;
  readonly #counted = new Map<UnreadOutput, number>();
  #bytes = 0;
  #givenUp = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Number of unread bytes of all answers at the last count. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Number of answers that were ended because their clients did not read them. */
  get givenUp(): number {
    return this.#givenUp;
  }

  /** Counts an answer's unread bytes again, and ends answers that exceed the bounds. Call it whenever the count may have changed. */
  count(output: UnreadOutput): void {
    this.#recount(output);
    if (!output.isEnding && output.unreadBytes > maxBytesPerAnswer) this.#giveUp(output);
    if (this.#bytes <= this.#maxBytes) return;
    // Clients may have read since their answers were counted.
    for (const each of this.#counted.keys()) this.#recount(each);
    // A single answer that is larger than the total bound must be sent nevertheless.
    while (this.#bytes > this.#maxBytes && this.#counted.size > 1) {
      const largest = this.#findLargest();
      if (!largest) return;
      this.#giveUp(largest);
    }
  }

  #recount(output: UnreadOutput): void {
    const { unreadBytes } = output;
    this.#bytes += unreadBytes - (this.#counted.get(output) ?? 0);
    if (unreadBytes > 0) this.#counted.set(output, unreadBytes);
    else this.#counted.delete(output);
  }

  #findLargest(): UnreadOutput | undefined {
    let largest: UnreadOutput | undefined;
    let largestBytes = 0;
    for (const [output, bytes] of this.#counted) {
      if (bytes <= largestBytes) continue;
      largest = output;
      largestBytes = bytes;
    }
    return largest;
  }

  #giveUp(output: UnreadOutput): void {
    this.#givenUp += 1;
    output.giveUp();
    this.#recount(output);
  }
}

/**
 * Returns the bound of unread output in bytes: an eighth of the container's memory, and at most 32 MiB.
 * @param memoryBytes the memory limit of the container; 0 if it has none
 */
export function computeUnreadBytes(memoryBytes: number): number {
  return memoryBytes === 0 ? maxBytesInAll : Math.min(maxBytesInAll, Math.floor(memoryBytes * memoryFraction));
}
