import type { Attempt } from './attempt.ts';

/** One ended attempt of a job. Times are milliseconds of `performance.now()`. */
export interface AttemptTimes {
  worker: string;
  /** Whether the job was offered; otherwise it was claimed. */
  isOffered: boolean;
  waitingSince: number;
  givenAt: number;
  /** When the first frame came, which shows that the worker has the job; undefined if none came. */
  begunAt: number | undefined;
  /** When the first piece of the answer, or its end, came; undefined if none came. */
  firstDataAt: number | undefined;
  endedAt: number;
  /** `done`, `cancelled`, `refused` for an offer that the worker did not take, or the code of the error. */
  end: string;
}

/** Maximum attempts that are kept of one job, namely the first ones and the last. */
const maxAttempts = 8;

/** The ended attempts of a job, oldest first. */
export class JobTimeline {
  readonly #attempts: AttemptTimes[] = [];
  #answerBytes = 0;

  /** Records the end of an attempt; does nothing without an attempt. */
  ended(attempt: Attempt | undefined, waitingSince: number, end: string): void {
    if (!attempt) return;
    this.#answerBytes += attempt.answerBytes;
    const { worker, isOffered, claimedAt, begunAt, firstDataAt } = attempt;
    // A job whose offer was refused has waited since the refusal.
    const waited = Math.max(waitingSince, this.#attempts.at(-1)?.endedAt ?? 0);
    if (this.#attempts.length === maxAttempts) this.#attempts.pop();
    const endedAt = performance.now();
    const times = { waitingSince: waited, givenAt: claimedAt, begunAt, firstDataAt, endedAt };
    this.#attempts.push({ worker: worker.id, isOffered, ...times, end });
  }

  read(): { timeline: readonly AttemptTimes[]; answerBytes: number } {
    return { timeline: this.#attempts, answerBytes: this.#answerBytes };
  }
}
