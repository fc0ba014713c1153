import { runInSlices } from './run-in-slices.ts';
import type { Job } from './job.ts';

/** Minimum milliseconds between two reviews. */
const everyMs = 20;
/** The minimum pause as a multiple of the duration of a review, so that reviews take at most a tenth of the time. */
const restFactor = 9;

/**
 * Reviews all waiting jobs after workers came, left or changed. Changes at the same moment share a review. A review handles a few jobs at a
 * time, so that the loss of half a cluster does not delay the streams.
 */
export class WaitingJobReviewer {
  readonly #jobs: () => Iterable<Job>;
  readonly #look: (job: Job) => void;
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  #isWanted = false;
  #isClosed = false;
  #restUntil = 0;

  /** @param jobs returns all jobs; only the waiting ones are reviewed */
  constructor(jobs: () => Iterable<Job>, look: (job: Job) => void) {
    this.#jobs = jobs;
    this.#look = look;
  }

  /** Schedules a review: at once if the last one was a while ago, otherwise in a moment. */
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
    // Jobs that arrive meanwhile are placed with the changed workers.
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
