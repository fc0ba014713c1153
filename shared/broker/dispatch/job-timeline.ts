import type { Attempt } from './attempt.ts';

/** One ended attempt of a job. Times are milliseconds of `performance.now()`. */
export interface AttemptTimes {
  worker: string;
  /** Whether the job was offered; otherwise it was claimed. */
  isOffered: boolean;
  /** When the wait for this attempt began. */
  waitingSince: number;
  /** When the job was granted or offered. */
  assignedAt: number;
  /** When the first frame came, which shows that the worker has the job; undefined if no frame came. */
  begunAt: number | undefined;
  /** When the first piece or the end of the answer came, whichever came first; undefined if neither came. */
  firstDataAt: number | undefined;
  endedAt: number;
  /** How the attempt ended: `done`, `cancelled`, `refused` for a refused offer, or the code of an error. */
  end: string;
}

/** Maximum attempts of one job that are kept: the first ones and the last one. */
const maxKeptAttempts = 8;

/** The ended attempts of a job, oldest first. */
export class JobTimeline {
  readonly #attempts: AttemptTimes[] = [];
  #answerBytes = 0;

  /** Records the end of an attempt; does nothing without an attempt. */
  recordEnd(attempt: Attempt | undefined, waitingSince: number, end: string): void {
    if (!attempt) return;
    this.#answerBytes += attempt.answerBytes;
    const { worker, isOffered, assignedAt, firstFrameAt: begunAt, firstDataAt } = attempt;
    // A job whose offer was refused has waited since the refusal.
    const waitedSince = Math.max(waitingSince, this.#attempts.at(-1)?.endedAt ?? 0);
    if (this.#attempts.length === maxKeptAttempts) this.#attempts.pop();
    const endedAt = performance.now();
    const times = { waitingSince: waitedSince, assignedAt, begunAt, firstDataAt, endedAt };
    this.#attempts.push({ worker: worker.id, isOffered, ...times, end });
  }

  /** Returns the kept attempts, and the bytes of the answer that all attempts together have received. */
  read(): { timeline: readonly AttemptTimes[]; answerBytes: number } {
    return { timeline: this.#attempts, answerBytes: this.#answerBytes };
  }
}
