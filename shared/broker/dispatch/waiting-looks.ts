import { inParts } from './in-parts.ts';
import type { Job } from './job.ts';

/** Milliseconds between two looks at least, and how many times as long as a look takes: it may use a tenth of the time. */
const everyMs = 20;
const restFactor = 9;

/**
 * Looks again at all jobs that wait, after workers came, went or changed: once for all changes of a moment, and a few jobs at a time, so
 * that the loss of half a cluster does not hold up the streams.
 */
export class WaitingLooks {
  readonly #jobs: () => Iterable<Job>;
  readonly #look: (job: Job) => void;
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  #isWanted = false;
  #isClosed = false;
  #restUntil = 0;

  /** @param jobs all jobs, of which those are looked at that wait */
  constructor(jobs: () => Iterable<Job>, look: (job: Job) => void) {
    this.#jobs = jobs;
    this.#look = look;
  }

  /** Looks at once if the last look was a while ago, else in a moment. */
  want(): void {
    this.#isWanted = true;
    if (this.#timer || this.#isLooking) return;
    this.#timer = setTimeout(() => void this.#run(), Math.max(0, this.#restUntil - performance.now()));
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #run(): Promise<void> {
    this.#timer = undefined;
    this.#isLooking = true;
    this.#isWanted = false;
    // Jobs that come meanwhile know of the change already.
    const waiting = Array.from(this.#jobs()).filter(({ state }) => state === 'queued');
    const look = (job: Job): void => {
      if (job.state === 'queued') this.#look(job);
    };
    const tookMs = await inParts(waiting, look, () => this.#isClosed);
    this.#isLooking = false;
    this.#restUntil = performance.now() + Math.max(everyMs, tookMs * restFactor);
    if (this.#isWanted && !this.#isClosed) this.want();
  }
}
