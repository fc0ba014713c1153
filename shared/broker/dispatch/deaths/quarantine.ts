import type { JobState } from '../job-event.ts';
import type { Death } from './death.ts';

/**
 * A quarantined job has not caused the death if it runs at least this many milliseconds longer than it had run when its first worker died.
 */
const marginMs = 500;

/** The fields of a job that the quarantine reads. A job with a death is quarantined. */
export interface QuarantinedJob {
  readonly state: JobState;
  readonly death: Pick<Death, 'worker' | 'diedAt' | 'afterMs'> | undefined;
  readonly attempt: { readonly worker: object; readonly assignedAt: number } | undefined;
}

/** Maximum milliseconds after a death for which a quarantined job waits for a worker without another quarantined job of that death. */
const maxWaitMs = 400;

/**
 * Quarantines the jobs that a worker had when it died, because one of them may have killed it. A worker gets only one quarantined job of a
 * death at a time. So the next death shows which job caused it, and costs the other jobs nothing. A quarantined job keeps the others away
 * until it has produced output, or has run for longer than its first worker lived with it. If there are more quarantined jobs than workers,
 * the last jobs share workers after `maxWaitMs`, because most deaths are not the fault of a job. No job waits longer than that.
 */
export class Quarantine {
  /** The quarantined jobs that each worker has got. Other quarantined jobs may have to stay away from this worker. */
  readonly #quarantinedByWorker = new WeakMap<object, readonly QuarantinedJob[]>();

  /**
   * Whether a worker may get a job. A quarantined job must not join another job of the same death, until it has waited for `maxWaitMs`.
   */
  mayTake(worker: object, job: QuarantinedJob, now = performance.now()): boolean {
    const { death } = job;
    if (!death || !this.isWaiting(job, now)) return true;
    return !this.#findQuarantined(worker, now).some((other) => other !== job && other.death?.worker === death.worker);
  }

  /** Whether a job is quarantined and may still have to wait for a worker without another job of the same death. */
  isWaiting({ death }: QuarantinedJob, now = performance.now()): boolean {
    return death !== undefined && now - death.diedAt <= maxWaitMs;
  }

  /** Records that a worker gets a job. */
  recordAssigned(worker: object, job: QuarantinedJob, now = performance.now()): void {
    if (job.death) this.#quarantinedByWorker.set(worker, [...this.#findQuarantined(worker, now), job]);
  }

  #findQuarantined(worker: object, now: number): readonly QuarantinedJob[] {
    return this.#quarantinedByWorker.get(worker)?.filter((job) => isQuarantinedOn(worker, job, now)) ?? [];
  }
}

function isQuarantinedOn(worker: object, { attempt, state, death }: QuarantinedJob, now: number): boolean {
  if (state !== 'claimed' || attempt?.worker !== worker || !death) return false;
  return now - attempt.assignedAt < death.afterMs + marginMs;
}

/**
 * Sorts the jobs of a dead worker: the job that the worker got last comes first. Jobs leave the worker in this order. The first jobs find
 * workers without other quarantined jobs, and a job that kills its worker at once is among the first.
 */
export function sortNewestFirst<T extends Pick<QuarantinedJob, 'attempt'>>(jobs: readonly T[]): T[] {
  return jobs.toSorted((a, b) => (b.attempt?.assignedAt ?? 0) - (a.attempt?.assignedAt ?? 0));
}
