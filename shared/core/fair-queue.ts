/** Thrown when too many tasks wait, of one owner or altogether. */
export class QueueFullError extends Error {
  override name = 'QueueFullError';
}

export interface FairQueueLimits {
  /** Maximum number of tasks that run at the same time. */
  concurrency: number;
  /** Maximum number of one owner's tasks that wait. */
  waitingPerOwner: number;
  /** Maximum number of tasks that wait. */
  waiting: number;
}

/**
 * Runs expensive tasks, a few at a time. Serves the owners of tasks in rotation, one task each. An owner with many tasks delays another
 * owner by one task at most.
 */
export class FairQueue {
  readonly #limits: FairQueueLimits;
  /** The waiting tasks by owner. The first owner in the map is served next. An owner without waiting tasks is not in the map. */
  readonly #waitingTasks = new Map<string, (() => void)[]>();
  #waitingCount = 0;
  #running = 0;

  constructor(limits: FairQueueLimits) {
    this.#limits = limits;
  }

  /**
   * Runs `work` as soon as the rotation reaches it, and returns its result.
   * @throws QueueFullError at once, if too many tasks wait
   */
  async run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#limits.concurrency) this.#running++;
    else await this.#waitForTurn(owner);
    try {
      return await work();
    } finally {
      this.#startNext();
    }
  }

  #waitForTurn(owner: string): Promise<void> {
    const ownTasks = this.#waitingTasks.get(owner) ?? [];
    if (ownTasks.length >= this.#limits.waitingPerOwner || this.#waitingCount >= this.#limits.waiting) {
      throw new QueueFullError('there is more work waiting than may wait');
    }
    this.#waitingCount++;
    return new Promise((resolve) => {
      ownTasks.push(resolve);
      this.#waitingTasks.set(owner, ownTasks);
    });
  }

  /** Begins a task of the next owner after a task has finished. That owner then goes to the end of the queue. */
  #startNext(): void {
    const [next] = this.#waitingTasks;
    if (next === undefined) {
      this.#running--;
      return;
    }
    const [owner, ownTasks] = next;
    const begin = ownTasks.shift();
    this.#waitingTasks.delete(owner);
    if (ownTasks.length > 0) this.#waitingTasks.set(owner, ownTasks);
    this.#waitingCount--;
    begin?.();
  }
}
