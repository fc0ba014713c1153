/** A body is in memory several times while it is parsed, translated and sent on: one in so many bytes of the limit may be bodies. */
const shareOfMemory = 8;

/** Limits the bytes of the bodies of all jobs that a worker was granted: from their first part until the job is over. */
export class BodyMemory {
  readonly #maxBytes: number;
  #bytes = 0;

  /** @param memoryBytes what this process may use; 0 without a limit */
  constructor(memoryBytes: number) {
    this.#maxBytes = memoryBytes > 0 ? Math.floor(memoryBytes / shareOfMemory) : Number.POSITIVE_INFINITY;
  }

  /** Takes the bytes of a body. One alone always has room. @returns false if the others leave too little */
  take(bytes: number): boolean {
    if (this.#bytes > 0 && this.#bytes + bytes > this.#maxBytes) return false;
    this.#bytes += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#bytes -= bytes;
  }
}
