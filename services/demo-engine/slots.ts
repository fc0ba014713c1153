import { RouterError } from '#shared/core/errors.ts';

const maxWaiting = 4096;

/** How many requests are answered at once. Further ones wait in line; a line that is too long turns requests away. */
export class Slots {
  readonly total: number;
  #free: number;
  /** A Set keeps the order of arrival and lets a client that hangs up leave from the middle. */
  readonly #line = new Set<() => void>();

  constructor(total: number) {
    this.total = total;
    this.#free = total;
  }

  get waiting(): number {
    return this.#line.size;
  }

  /**
   * Takes a slot, waiting for one as long as the client does.
   * @returns gives the slot back; to be called once
   * @throws RouterError `overloaded` when the line is full; the signal's reason when the client has gone
   */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait(signal);
    return () => {
      const [next] = this.#line;
      if (next) next();
      else this.#free += 1;
    };
  }

  #wait(signal: AbortSignal): Promise<void> {
    if (this.#line.size >= maxWaiting) {
      throw new RouterError('overloaded', 'Too many requests wait for this engine.', { retryAfter: 1 });
    }
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#line.delete(enter);
        reject(signal.reason as Error);
      };
      const enter = (): void => {
        this.#line.delete(enter);
        signal.removeEventListener('abort', leave);
        resolve();
      };
      this.#line.add(enter);
      signal.addEventListener('abort', leave, { once: true });
    });
  }
}
