import { ShortLivedMap } from '../short-lived-map.ts';
import type { Attempt } from './attempt.ts';
import type { Job } from './job.ts';

/** The jobs of this dispatcher that have not ended, by id. Jobs that a worker has can also be found by the grant of their attempt. */
export class JobTable {
  readonly #jobs = new ShortLivedMap<Job>();
  readonly #jobsByGrant = new ShortLivedMap<Job>();

  get size(): number {
    return this.#jobs.size;
  }

  get(id: string): Job | undefined {
    return this.#jobs.get(id);
  }

  /** Returns the job that a worker has by this grant. */
  findByGrant(grant: string): Job | undefined {
    return this.#jobsByGrant.get(grant);
  }

  /** Iterates over the jobs. Skips jobs that end meanwhile; may skip jobs that are added meanwhile. */
  values(): Iterable<Job> {
    return this.#jobs.values();
  }

  add(job: Job): void {
    this.#jobs.set(job.id, job);
  }

  /** Records that a job is granted or offered to the attempt's worker. */
  recordAttempt(job: Job, { grant, worker, placement }: Attempt): void {
    worker.take(grant, placement.model);
    this.#jobsByGrant.set(grant, job);
  }

  /** Records that the worker of the job's attempt, if there is one, does not have the job any more. */
  endAttempt({ attempt }: Job): void {
    if (!attempt || !this.#jobsByGrant.delete(attempt.grant)) return;
    const { worker, placement, grant } = attempt;
    worker.release(grant, placement.model);
  }

  delete(job: Job): void {
    this.endAttempt(job);
    this.#jobs.delete(job.id);
  }
}
