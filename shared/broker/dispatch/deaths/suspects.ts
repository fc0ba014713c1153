import type { JobState } from '../job-state.ts';
import type { Death } from './death.ts';

/** Milliseconds added to the time after which a suspect's first worker died: one that runs for longer has shown its innocence. */
const marginMs = 500;

/** What of a job makes it a suspect. */
export interface SuspectJob {
  readonly state: JobState;
  readonly death: Pick<Death, 'worker' | 'at' | 'afterMs'> | undefined;
  readonly attempt: { readonly worker: object; readonly claimedAt: number } | undefined;
}

/** Milliseconds after the death for which a suspect waits for a worker without another one of the same death. */
const maxWaitMs = 400;

/**
 * The suspects: jobs that a worker died with. One of them may have killed it. A worker has one suspect of a death at a time, so
 * that the next death shows which one it was, and costs the others nothing. A suspect that has run for longer than it took its
 * worker to die, or has put out something, no longer keeps others away. Where there are more suspects than workers, the last of
 * them are put together after a while: most deaths are no job's fault, and nobody waits for longer than that.
 */
export class Suspects {
  /** The suspects that each worker was given, as long as others keep away from them. */
  readonly #given = new WeakMap<object, readonly SuspectJob[]>();

  /** Whether a worker may be given a job: any but a suspect beside another one of its death, unless it has waited for long enough. */
  mayTake(worker: object, job: SuspectJob, now = performance.now()): boolean {
    const { death } = job;
    if (!death || !this.isWaiting(job, now)) return true;
    return !this.#on(worker, now).some((other) => other !== job && other.death?.worker === death.worker);
  }

  /** Whether a job is a suspect that may have to wait for a worker without another one. */
  isWaiting({ death }: SuspectJob, now = performance.now()): boolean {
    return death !== undefined && now - death.at <= maxWaitMs;
  }

  /** A worker is given a job. */
  gave(worker: object, job: SuspectJob, now = performance.now()): void {
    if (job.death) this.#given.set(worker, [...this.#on(worker, now), job]);
  }

  #on(worker: object, now: number): readonly SuspectJob[] {
    return this.#given.get(worker)?.filter((job) => isSuspectOn(worker, job, now)) ?? [];
  }
}

function isSuspectOn(worker: object, { attempt, state, death }: SuspectJob, now: number): boolean {
  if (state !== 'claimed' || attempt?.worker !== worker || !death) return false;
  return now - attempt.claimedAt < death.afterMs + marginMs;
}

/**
 * Jobs of one worker in the order in which they leave it when it has died: those first that it was given last. A job that kills at
 * once is among them, and the first to leave find workers without another suspect.
 */
export function newestFirst<T extends Pick<SuspectJob, 'attempt'>>(jobs: readonly T[]): T[] {
  return jobs.toSorted((one, other) => (other.attempt?.claimedAt ?? 0) - (one.attempt?.claimedAt ?? 0));
}
