import type { Job } from '../job.ts';
import { hasWorkerBesides, type Placement } from '../workers/live-pool.ts';
import type { LiveWorker } from '../workers/live-worker.ts';

/**
 * A dispatcher's decision on a claim: the placement to grant, or the reason of a refusal (see `ClaimAnswer`). An ejected worker gets the
 * answer `later` after a moment.
 */
export type ClaimVerdict = Placement | 'gone' | 'taken' | 'later' | 'ejected';

/**
 * Decides on a worker's claim for a job.
 * @param job undefined if the job has ended or was never here
 * @param worker undefined if this dispatcher has no announcement of the worker yet
 * @param version the version of the contract that the claim uses
 */
export function judgeClaim(job: Job | undefined, worker: LiveWorker | undefined, version: number): ClaimVerdict {
  if (!job) return 'gone';
  if (job.state !== 'queued') return 'taken';
  if (
    worker?.pool.contract !== version ||
    (job.workersToAvoid.has(worker.id) && hasWorkerBesides(worker.pool, job.workersToAvoid))
  )
    return 'later';
  const { pool } = worker;
  const ticket = job.tickets.placed.get(pool);
  const placement = ticket?.placement ?? job.findPlacements(job.workersToAvoid).find((each) => each.pool === pool);
  // The worker's pool can no longer serve the job. The job waits with its other tickets, or gets new ones.
  if (!placement) return 'gone';
  return worker.isLeftOut(placement.model, performance.now(), job.workersToAvoid) ? 'ejected' : placement;
}
