import type { Job } from '../job.ts';
import type { LiveWorker } from '../workers/live-pool.ts';

/** Milliseconds added to the time after which a suspect's first worker died: one that runs for longer has shown its innocence. */
const marginMs = 1_000;

/**
 * The suspects: jobs that a worker died with. One of them may have killed it. A worker has one suspect at a time, so that the
 * next death shows which one it was, and costs the others nothing. A suspect that has run for longer than it took its worker
 * to die, or has put out something, no longer keeps others away.
 */
export class Suspects {
  /** The suspect that each worker was given last. */
  readonly #given = new WeakMap<LiveWorker, Job>();

  /** Whether a worker may be given a job: any but a suspect beside another one. */
  mayTake(worker: LiveWorker, job: Job, now = performance.now()): boolean {
    if (job.death === undefined) return true;
    const other = this.#given.get(worker);
    return !other || other === job || !isSuspectOn(worker, other, now);
  }

  /** A worker is given a job. */
  gave(worker: LiveWorker, job: Job): void {
    if (job.death !== undefined) this.#given.set(worker, job);
  }
}

function isSuspectOn(worker: LiveWorker, { attempt, state, death }: Job, now: number): boolean {
  if (state !== 'claimed' || attempt?.worker !== worker || !death) return false;
  return now - attempt.claimedAt < death.afterMs + marginMs;
}
