import type { Job } from '../job.ts';
import { isLeftOut, isServing, type LiveWorker, type Placement } from '../workers/live-pool.ts';

/**
 * An ingress's answer to a claim: the placement that is granted, or why it is refused (see `ClaimAnswer`). An ejected worker is
 * answered `later`, after a moment.
 */
export type Verdict = Placement | 'gone' | 'taken' | 'later' | 'ejected';

/**
 * Judges a worker's claim for a job.
 * @param job undefined when it is over or was never here
 * @param worker undefined when this ingress has no announcement of it yet
 * @param version of the contract that the claim is made in
 */
export function judgeClaim(job: Job | undefined, worker: LiveWorker | undefined, version: number): Verdict {
  if (!job) return 'gone';
  if (job.state !== 'queued') return 'taken';
  if (worker?.pool.contract !== version || (job.avoid.has(worker.id) && isServing(worker.pool, job.avoid)))
    return 'later';
  const { pool } = worker;
  const ticket = job.tickets.placed.get(pool);
  const placement = ticket?.placement ?? job.place(job.avoid).find((each) => each.pool === pool);
  // A worker whose pool can no longer serve the job; its other tickets, or new ones, still stand.
  if (!placement) return 'gone';
  return isLeftOut(worker, placement.model) ? 'ejected' : placement;
}
