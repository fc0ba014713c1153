import { RouterError } from '#shared/core/errors.ts';

/** An input is in memory several times while it is parsed, checked and sent on: one in so many bytes of the limit may be inputs. */
const shareOfMemory = 10;

/** Limits the bytes of the inputs of all tools that run, which a tool holds for as long as it runs. */
export class InputMemory {
  readonly #maxBytes: number;
  #bytes = 0;

  /** @param memoryBytes what this process may use; 0 without a limit */
  constructor(memoryBytes: number) {
    this.#maxBytes = memoryBytes > 0 ? Math.floor(memoryBytes / shareOfMemory) : Number.POSITIVE_INFINITY;
  }

  /**
   * Takes the bytes of one input, before it is parsed.
   * @returns the call that gives them back
   * @throws RouterError `body_too_large` if it is too large for this process, `overloaded` if others leave too little room
   */
  take(bytes: number): () => void {
    if (bytes > this.#maxBytes)
      throw new RouterError('body_too_large', `The input of a tool has ${this.#maxBytes} bytes at most.`);
    if (this.#bytes + bytes > this.#maxBytes)
      throw new RouterError('overloaded', 'The inputs of running tools take too much memory.', { retryAfter: 1 });
    this.#bytes += bytes;
    return () => {
      this.#bytes -= bytes;
    };
  }
}
