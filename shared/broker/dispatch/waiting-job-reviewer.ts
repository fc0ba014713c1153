import { runInTurns } from './run-in-turns.ts';
import type { Job } from './job.ts';

/** Minimum milliseconds from the end of a review to the next one. */
const minPauseMs = 20;
/** The minimum pause after a review as a multiple of its duration, so that reviews take at most a tenth of the time. */
const restFactor = 9;

/**
 * Reviews all waiting jobs after workers came, left or changed. Changes that happen together share a review. A review handles a few jobs in
 * each turn of the event loop, so that the loss of half a cluster does not delay the streams.
 */
export class WaitingJobReviewer {
  readonly #jobs: () => Iterable<Job>;
  readonly #review: (job: Job) => void;
  #timer: NodeJS.Timeout | undefined;
  #isReviewing = false;
  #isReviewDue = false;
  #isClosed = false;
  #restUntil = 0;

  /**
   * @param jobs returns all jobs; only the waiting ones are reviewed
   * @param review called for each waiting job
   */
  constructor(jobs: () => Iterable<Job>, review: (job: Job) => void) {
    this.#jobs = jobs;
    this.#review = review;
  }

  /** Schedules a review: at once if the last review was a while ago, otherwise in a moment. */
  schedule(): void {
    this.#isReviewDue = true;
    if (this.#timer || this.#isReviewing) return;
    this.#timer = setTimeout(() => void this.#run(), Math.max(0, this.#restUntil - performance.now()));
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #run(): Promise<void> {
    this.#timer = undefined;
    this.#isReviewing = true;
    this.#isReviewDue = false;
    // Jobs that arrive during the review see the changed workers, so they need no review.
    const waiting = Array.from(this.#jobs()).filter(({ state }) => state === 'queued');
    const reviewIfWaiting = (job: Job): void => {
      if (job.state === 'queued') this.#review(job);
    };
    const tookMs = await runInTurns(waiting, reviewIfWaiting, () => this.#isClosed);
    this.#isReviewing = false;
    this.#restUntil = performance.now() + Math.max(minPauseMs, tookMs * restFactor);
    if (this.#isReviewDue && !this.#isClosed) this.schedule();
  }
}
