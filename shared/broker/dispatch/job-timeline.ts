import type { Attempt } from './attempt.ts';

/** One attempt of a job that is over. Times are milliseconds of `performance.now()`. */
export interface AttemptTimes {
  worker: string;
  /** Whether it was offered; otherwise the worker had claimed it. */
  isOffered: boolean;
  /** Since when the job waited for this attempt. */
  waitingSince: number;
  givenAt: number;
  /** When its first frame came, which shows that the worker has it; undefined where none came. */
  begunAt: number | undefined;
  /** When the first piece of the answer, or its end, came; undefined where none came. */
  firstDataAt: number | undefined;
  endedAt: number;
  /** `done`, `cancelled`, `refused` for an offer that the worker did not take, or the code of the error. */
  end: string;
}

/** Attempts that are kept of one job: the first ones, and the last. */
const maxAttempts = 8;

/** The attempts of a job that are over, oldest first. */
export class JobTimeline {
  readonly #attempts: AttemptTimes[] = [];
  #answerBytes = 0;

  /** An attempt is over; without one nothing is. */
  ended(attempt: Attempt | undefined, waitingSince: number, end: string): void {
    if (!attempt) return;
    this.#answerBytes += attempt.answerBytes;
    const { worker, isOffered, claimedAt, begunAt, firstDataAt } = attempt;
    // A job whose offer was refused has waited since then.
    const waited = Math.max(waitingSince, this.#attempts.at(-1)?.endedAt ?? 0);
    if (this.#attempts.length === maxAttempts) this.#attempts.pop();
    const endedAt = performance.now();
    const times = { waitingSince: waited, givenAt: claimedAt, begunAt, firstDataAt, endedAt };
    this.#attempts.push({ worker: worker.id, isOffered, ...times, end });
  }

  /** @property answerBytes of all attempts together */
  read(): { timeline: readonly AttemptTimes[]; answerBytes: number } {
    return { timeline: this.#attempts, answerBytes: this.#answerBytes };
  }
}
