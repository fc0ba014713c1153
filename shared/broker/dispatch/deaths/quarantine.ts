import type { JobState } from '../job-state.ts';
import type { Death } from './death.ts';

/**
 * Milliseconds by which a quarantined job must outlast the time after which its first worker died. A job that runs for longer has not
 * caused the death.
 */
const marginMs = 500;

export interface QuarantinedJob {
  readonly state: JobState;
  readonly death: Pick<Death, 'worker' | 'at' | 'afterMs'> | undefined;
  readonly attempt: { readonly worker: object; readonly claimedAt: number } | undefined;
}

/** Milliseconds after the death for which a quarantined job waits for a worker without another quarantined job of the same death. */
const maxWaitMs = 400;

/**
 * Quarantines the jobs that a worker had when it died, because one of them may have killed it. A worker gets one quarantined job of a death
 * at a time, so that the next death shows which job caused it, and costs the others nothing. A quarantined job no longer keeps others away
 * once it has produced output, or has run for longer than its first worker lived with it. If there are more quarantined jobs than workers,
 * the last ones share workers after `maxWaitMs`, because most deaths are not the fault of a job. No job waits longer than that.
 */
export class Quarantine {
  /** The quarantined jobs that each worker got, as long as other quarantined jobs must stay away from them. */
  readonly #byBody = new WeakMap<object, readonly QuarantinedJob[]>();

  /**
   * Whether a worker may get a job. Refuses a quarantined job beside another one of the same death, until it has waited for `maxWaitMs`.
   */
  mayTake(worker: object, job: QuarantinedJob, now = performance.now()): boolean {
    const { death } = job;
    if (!death || !this.isWaiting(job, now)) return true;
    return !this.#on(worker, now).some((other) => other !== job && other.death?.worker === death.worker);
  }

  /** Whether a job is quarantined and may have to wait for a worker without another job of the same death. */
  isWaiting({ death }: QuarantinedJob, now = performance.now()): boolean {
    return death !== undefined && now - death.at <= maxWaitMs;
  }

  gave(worker: object, job: QuarantinedJob, now = performance.now()): void {
    if (job.death) this.#byBody.set(worker, [...this.#on(worker, now), job]);
  }

  #on(worker: object, now: number): readonly QuarantinedJob[] {
    return this.#byBody.get(worker)?.filter((job) => isQuarantinedOn(worker, job, now)) ?? [];
  }
}

function isQuarantinedOn(worker: object, { attempt, state, death }: QuarantinedJob, now: number): boolean {
  if (state !== 'claimed' || attempt?.worker !== worker || !death) return false;
  return now - attempt.claimedAt < death.afterMs + marginMs;
}

/**
 * Sorts the jobs of a dead worker into the order in which they leave it, the latest first. A job that kills at once is among the latest,
 * and the first jobs to leave find workers without other quarantined jobs.
 */
export function newestFirst<T extends Pick<QuarantinedJob, 'attempt'>>(jobs: readonly T[]): T[] {
  return jobs.toSorted((one, other) => (other.attempt?.claimedAt ?? 0) - (one.attempt?.claimedAt ?? 0));
}
