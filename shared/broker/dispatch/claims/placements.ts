import type { Job } from '../job.ts';
import { noWorkers, type Placement } from '../workers/live-pool.ts';
import type { LivePool } from '../workers/live-worker.ts';

/** After this many reported failures of a job, a pool comes after all other pools, even if it has healthy workers. */
const maxFailures = 2;

/**
 * Returns the placements that can serve a job right now, best first. Avoids workers that failed on the job if other workers can serve it.
 * Pools that failed on the job come last, so that they do not use up attempts with which another pool could serve it.
 */
export function rankPlacements(job: Job): Placement[] {
  const { workersToAvoid, failedWorkers } = job;
  let placements = job.findPlacements(workersToAvoid);
  if (placements.length === 0 && workersToAvoid.size > 0) placements = job.findPlacements(noWorkers);
  if (!failedWorkers || placements.length < 2) return placements;
  const isSpent = ({ pool, model }: Placement): boolean => {
    const failures = failedWorkers.countFailures(pool);
    return failures >= maxFailures || (failures > 0 && !hasHealthyWorker(pool, model, workersToAvoid));
  };
  // A pool that failed is not as good as the other pools of its group any more.
  const spent = placements.filter(isSpent).map((placement) => ({ ...placement, group: undefined }));
  return spent.length === 0 ? placements : [...placements.filter((placement) => !isSpent(placement)), ...spent];
}

/**
 * Whether some worker of the pool has lately served the model without faults, so that the failures are not the fault of the whole pool.
 * Leaves out the workers to avoid.
 */
function hasHealthyWorker({ workers }: LivePool, model: string, workersToAvoid: ReadonlySet<string>): boolean {
  const now = performance.now();
  for (const worker of workers) {
    if (!worker.isHealthy(model) || workersToAvoid.has(worker.id)) continue;
    const average = worker.health.find(model)?.outcomes;
    if (!average || average.countFaultsInRow('failure') + average.countFaultsInRow('refusal') > 0) continue;
    if (average.computeWeight(now) >= 0.5) return true;
  }
  return false;
}

/**
 * Returns the placements that are open to a job by now, and when the next placement opens. A job may have to wait for a tier, see
 * `Placement.maxWaitMs`. The placements of later tiers open when the job has waited that long.
 */
export function findOpenPlacements(
  job: Pick<Job, 'waitingSince'>,
  placements: readonly Placement[],
  now = performance.now(),
): { open: readonly Placement[]; nextAt: number } {
  let opensAt = job.waitingSince;
  let tier = placements[0]?.pool.tier;
  let maxWaitMs = 0;
  for (const [index, placement] of placements.entries()) {
    if (placement.pool.tier !== tier) opensAt += maxWaitMs;
    if (opensAt > now) return { open: placements.slice(0, index), nextAt: opensAt };
    tier = placement.pool.tier;
    maxWaitMs = placement.maxWaitMs ?? 0;
  }
  return { open: placements, nextAt: Number.POSITIVE_INFINITY };
}
