import { runInSlices } from './run-in-slices.ts';
import type { Job } from './job.ts';

/**
 * Minimum milliseconds between two looks, and the minimum pause as a multiple of a look's duration: looks take at most a tenth of the
 * time.
 */
const everyMs = 20;
const restFactor = 9;

/**
 * Looks again at all waiting jobs after workers came, left or changed. Changes of one moment share a look. A look handles a few jobs at
 * a time, so that the loss of half a cluster does not delay the streams.
 */
export class WaitingJobReviewer {
  readonly #jobs: () => Iterable<Job>;
  readonly #look: (job: Job) => void;
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  #isWanted = false;
  #isClosed = false;
  #restUntil = 0;

  /** @param jobs returns all jobs; only the waiting ones are looked at */
  constructor(jobs: () => Iterable<Job>, look: (job: Job) => void) {
    this.#jobs = jobs;
    this.#look = look;
  }

  /** Schedules a look: at once if the last one was a while ago, otherwise in a moment. */
  schedule(): void {
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
    // Jobs that come meanwhile have seen the change already.
    const waiting = Array.from(this.#jobs()).filter(({ state }) => state === 'queued');
    const look = (job: Job): void => {
      if (job.state === 'queued') this.#look(job);
    };
    const tookMs = await runInSlices(waiting, look, () => this.#isClosed);
    this.#isLooking = false;
    this.#restUntil = performance.now() + Math.max(everyMs, tookMs * restFactor);
    if (this.#isWanted && !this.#isClosed) this.schedule();
  }
}
