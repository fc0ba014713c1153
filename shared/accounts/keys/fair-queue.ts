/** The queue is full, for this owner or altogether. */
export class QueueFullError extends Error {
  override name = 'QueueFullError';
}

/** Maximum of tasks that run at once, wait for one owner, and wait altogether. */
export interface FairQueueLimits {
  concurrency: number;
  waitingPerOwner: number;
  waiting: number;
}

/**
 * Runs expensive tasks a few at a time and serves their owners in rotation, one task each. An owner with many tasks delays another owner by
 * one task at most.
 */
export class FairQueue {
  readonly #limits: FairQueueLimits;
  /** In the order of service: the first owner is next. An owner without waiting work is not in the map. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #waitingCount = 0;
  #running = 0;

  constructor(limits: FairQueueLimits) {
    this.#limits = limits;
  }

  /**
   * Runs `work` when its owner is next in line, and returns its outcome.
   * @throws QueueFullError, at once, when there is no room to wait
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

  /** Gives the place of a finished task to the next owner in line, who then goes to the end of the line. */
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
