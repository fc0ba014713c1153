import type { Job } from '../job.ts';
import { isLeftOut, isServing, type LiveWorker, type Placement } from '../workers/live-pool.ts';

/**
 * A dispatcher's answer to a claim: the placement that is granted, or the reason of a refusal (see `ClaimAnswer`). An ejected worker
 * gets the answer `later` after a moment.
 */
export type Verdict = Placement | 'gone' | 'taken' | 'later' | 'ejected';

/**
 * Decides on a worker's claim for a job.
 * @param job undefined if the job has ended or was never here
 * @param worker undefined if this dispatcher has no announcement of it yet
 * @param version the version of the contract that the claim uses
 */
export function judgeClaim(job: Job | undefined, worker: LiveWorker | undefined, version: number): Verdict {
  if (!job) return 'gone';
  if (job.state !== 'queued') return 'taken';
  if (worker?.pool.contract !== version || (job.avoid.has(worker.id) && isServing(worker.pool, job.avoid)))
    return 'later';
  const { pool } = worker;
  const ticket = job.tickets.placed.get(pool);
  const placement = ticket?.placement ?? job.place(job.avoid).find((each) => each.pool === pool);
  // The worker's pool can no longer serve the job; the job's other tickets, or new ones, still stand.
  if (!placement) return 'gone';
  return isLeftOut(worker, placement.model) ? 'ejected' : placement;
}
