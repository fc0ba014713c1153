/** Thrown when too many tasks wait, of one owner or altogether. */
export class QueueFullError extends Error {
  override name = 'QueueFullError';
}

export interface FairQueueLimits {
  /** Maximum of tasks that run at the same time. */
  concurrency: number;
  /** Maximum of one owner's tasks that wait. */
  waitingPerOwner: number;
  /** Maximum of tasks that wait. */
  waiting: number;
}

/**
 * Runs expensive tasks a few at a time and serves their owners in rotation, one task each. An owner with many tasks delays another owner by
 * one task at most.
 */
export class FairQueue {
  readonly #limits: FairQueueLimits;
  /** The waiting tasks by owner. The first owner in the map is served next. An owner without waiting tasks is not in the map. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #waitingCount = 0;
  #running = 0;

  constructor(limits: FairQueueLimits) {
    this.#limits = limits;
  }

  /**
   * Runs `work` when it is the turn of its owner, and returns its outcome.
   * @throws QueueFullError at once, if too many tasks wait
   */
  async run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#limits.concurrency) this.#running++;
    else await this.#turn(owner);
    try {
      return await work();
    } finally {
      this.#passOn();
    }
  }

  #turn(owner: string): Promise<void> {
    const mine = this.#waiting.get(owner) ?? [];
    if (mine.length >= this.#limits.waitingPerOwner || this.#waitingCount >= this.#limits.waiting) {
      throw new QueueFullError('there is more work waiting than may wait');
    }
    this.#waitingCount++;
    return new Promise((resolve) => {
      mine.push(resolve);
      this.#waiting.set(owner, mine);
    });
  }

  /** Begins a task of the next owner in place of a finished one. That owner then goes to the end of the queue. */
  #passOn(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#running--;
      return;
    }
    const [owner, mine] = next;
    const begin = mine.shift();
    this.#waiting.delete(owner);
    if (mine.length > 0) this.#waiting.set(owner, mine);
    this.#waitingCount--;
    begin?.();
  }
}
