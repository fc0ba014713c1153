import { ShortLivedMap } from '../short-lived-map.ts';
import type { Attempt } from './attempt.ts';
import type { Job } from './job.ts';

/** The jobs of this dispatcher: all of them by id, and those that a worker has by the grant of their attempt. */
export class JobTable {
  readonly #jobs = new ShortLivedMap<Job>();
  readonly #granted = new ShortLivedMap<Job>();

  get size(): number {
    return this.#jobs.size;
  }

  get(id: string): Job | undefined {
    return this.#jobs.get(id);
  }

  byGrant(grant: string): Job | undefined {
    return this.#granted.get(grant);
  }

  /** Iterates over the jobs. Skips jobs that end meanwhile; may skip jobs that are added meanwhile. */
  values(): Iterable<Job> {
    return this.#jobs.values();
  }

  add(job: Job): void {
    this.#jobs.set(job.id, job);
  }

  recordAttempt(job: Job, { grant, worker, placement }: Attempt): void {
    worker.held += 1;
    worker.health.find(placement.model)?.recordJob(grant);
    this.#granted.set(grant, job);
  }

  /** Records that the worker of the job's attempt, if there is one, does not have the job any more. */
  endAttempt({ attempt }: Job): void {
    if (!attempt || !this.#granted.delete(attempt.grant)) return;
    const { worker, placement, grant } = attempt;
    worker.held -= 1;
    worker.health.find(placement.model)?.recordJobEnd(grant);
  }

  delete(job: Job): void {
    this.endAttempt(job);
    this.#jobs.delete(job.id);
  }
}
