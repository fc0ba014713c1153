import type { Logger } from './log.ts';

/**
 * The listeners of one event. A listener that throws costs neither the caller nor the other listeners anything: the error is logged.
 * @template Facts the arguments of a listener
 */
export class Listeners<Facts extends readonly unknown[] = []> {
  readonly #event: string;
  readonly #log: Logger;
  readonly #listeners = new Set<(...facts: Facts) => void>();

  /** @param event what has happened when the listeners are called, for the log */
  constructor(event: string, log: Logger) {
    this.#event = event;
    this.#log = log;
  }

  /** Returns a function that ends the calls. */
  add(listener: (...facts: Facts) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Calls all listeners, in the order in which they were added. */
  call(...facts: Facts): void {
    for (const listener of this.#listeners) {
      try {
        listener(...facts);
      } catch (error) {
        this.#log.error({ err: error, event: this.#event }, 'a listener failed');
      }
    }
  }
}
