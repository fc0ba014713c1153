import { RouterError } from '#shared/core/errors.ts';

const maxWaitMs = 5_000;

/**
 * Runs the reads of an owner's stored responses one after the other. A short request may continue a history of many megabytes. The replies
 * to many such reads at once would fill the memory of Redis, and would block the connection, which all owners share.
 */
export class OwnerQueue {
  /** For each owner with unfinished reads, resolves when the last read ends. */
  readonly #lastReads = new Map<string, Promise<void>>();

  /**
   * Runs a read after the earlier reads of the owner.
   * @throws RouterError `overloaded` if the earlier reads take more than five seconds; the errors of `read`
   */
  run<Read>(owner: string, read: () => Promise<Read>): Promise<Read> {
    const reading = this.#readAfter(this.#lastReads.get(owner), read);
    const last: Promise<void> = reading.then(
      () => this.#end(owner, last),
      () => this.#end(owner, last),
    );
    this.#lastReads.set(owner, last);
    return reading;
  }

  async #readAfter<Read>(before: Promise<void> | undefined, read: () => Promise<Read>): Promise<Read> {
    const startedAt = performance.now();
    await before;
    if (performance.now() - startedAt <= maxWaitMs) return read();
    const message = 'Too many requests continue stored responses of this owner at once.';
    throw new RouterError('overloaded', message, { retryAfter: 1 });
  }

  #end(owner: string, last: Promise<void>): void {
    if (this.#lastReads.get(owner) === last) this.#lastReads.delete(owner);
  }
}
