import { RouterError } from '#shared/core/errors.ts';

const longestWaitMs = 5_000;

/**
 * Runs the reads of an owner's stored responses one after the other. A short request may continue a history of many megabytes. The replies
 * to many such requests at once would fill the memory of Redis, and the connection to Redis, which keys and limits of all others need.
 */
export class OwnerQueue {
  /** The end of the last read of each owner who has unfinished reads. */
  readonly #lastReads = new Map<string, Promise<void>>();

  /**
   * Runs a read when the earlier reads of the owner are over.
   * @throws RouterError `overloaded` if the earlier reads take too long; the errors of `read`
   */
  run<Read>(owner: string, read: () => Promise<Read>): Promise<Read> {
    const reading = this.#after(this.#lastReads.get(owner), read);
    const last: Promise<void> = reading.then(
      () => this.#end(owner, last),
      () => this.#end(owner, last),
    );
    this.#lastReads.set(owner, last);
    return reading;
  }

  async #after<Read>(before: Promise<void> | undefined, read: () => Promise<Read>): Promise<Read> {
    const startedAt = performance.now();
    await before;
    if (performance.now() - startedAt <= longestWaitMs) return read();
    const message = 'Too many requests continue stored responses of this owner at once.';
    throw new RouterError('overloaded', message, { retryAfter: 1 });
  }

  #end(owner: string, last: Promise<void>): void {
    if (this.#lastReads.get(owner) === last) this.#lastReads.delete(owner);
  }
}
