import { RouterError } from '#shared/core/errors.ts';

const maxWaiting = 4096;

/** Limits the number of concurrent answers. Further requests wait in a queue. Requests are refused when the queue is full. */
export class Slots {
  readonly total: number;
  #free: number;
  /** Waiting requests in the order of their arrival. A Set can remove disconnected clients from the middle. */
  readonly #queue = new Set<() => void>();

  constructor(total: number) {
    this.total = total;
    this.#free = total;
  }

  get waitingCount(): number {
    return this.#queue.size;
  }

  /**
   * Takes a slot. If no slot is free, waits until a slot is free or the client disconnects.
   * @returns a function that releases the slot; call it once
   * @throws RouterError `overloaded` when the queue is full; the signal's reason when the client disconnects
   */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait(signal);
    return () => {
      const [takeFreedSlot] = this.#queue;
      if (takeFreedSlot) takeFreedSlot();
      else this.#free += 1;
    };
  }

  #wait(signal: AbortSignal): Promise<void> {
    if (this.#queue.size >= maxWaiting) {
      throw new RouterError('overloaded', 'Too many requests wait for this engine.', { retryAfter: 1 });
    }
    return new Promise((resolve, reject) => {
      const leaveQueue = (): void => {
        this.#queue.delete(takeFreedSlot);
        reject(signal.reason as Error);
      };
      const takeFreedSlot = (): void => {
        this.#queue.delete(takeFreedSlot);
        signal.removeEventListener('abort', leaveQueue);
        resolve();
      };
      this.#queue.add(takeFreedSlot);
      signal.addEventListener('abort', leaveQueue, { once: true });
    });
  }
}
