/** The queue is full, for this owner or altogether. */
export class QueueFullError extends Error {
  override name = 'QueueFullError';
}

/** How many pieces of work run at once, wait for one owner, and wait altogether. */
export interface FairQueueLimits {
  concurrency: number;
  waitingPerOwner: number;
  waiting: number;
}

/**
 * Runs expensive work a few pieces at a time and takes turns between the owners of the work, one piece each, so that
 * an owner with much to do delays another by one piece at most, however much it asks for.
 */
export class FairQueue {
  readonly #limits: FairQueueLimits;
  /** In order of turns: the first owner is next. An owner without waiting work is not in the map. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #waitingCount = 0;
  #running = 0;

  constructor(limits: FairQueueLimits) {
    this.#limits = limits;
  }

  /**
   * Runs `work` when it is its owner's turn, and returns its outcome.
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

  /** Resolves when a running piece hands its place over. */
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

  /** Gives the place of a finished piece to the next owner in turn, who then goes to the end of the line. */
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
