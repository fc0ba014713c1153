import type { Job } from '../job.ts';
import { noWorkers, type LivePool, type Placement } from '../workers/live-pool.ts';

/** A pool that answered a job with this many failures comes after all others, whatever its other workers do. */
const maxFailures = 2;

/**
 * Returns the placements that can serve a job right now, best first. Workers that failed on the job are avoided if there are others.
 * Pools that failed on it come last, so that they do not use up the attempts that another pool would serve.
 */
export function placementsOf(job: Job): Placement[] {
  const { avoid, failedPlaces } = job;
  let placements = job.place(avoid);
  if (placements.length === 0 && avoid.size > 0) placements = job.place(noWorkers);
  if (!failedPlaces || placements.length < 2) return placements;
  const isSpent = ({ pool, model }: Placement): boolean => {
    const failures = failedPlaces.failuresOf(pool);
    return failures >= maxFailures || (failures > 0 && !hasHealthyWorker(pool, model, avoid));
  };
  // A pool that failed is not as good as the others of its group any more.
  const spent = placements.filter(isSpent).map((placement) => ({ ...placement, group: undefined }));
  return spent.length === 0 ? placements : [...placements.filter((placement) => !isSpent(placement)), ...spent];
}

/** Whether a pool has another worker that has lately served the model without faults, so that only the failed worker is at fault. */
function hasHealthyWorker({ workers }: LivePool, model: string, avoid: ReadonlySet<string>): boolean {
  const now = performance.now();
  for (const { id, announcement, health } of workers) {
    if (!announcement.accepting || health.isEjected(model) || avoid.has(id)) continue;
    const average = health.find(model)?.outcomes;
    if (!average || average.faultsInRow('failure') + average.faultsInRow('refusal') > 0) continue;
    if (average.weight(now) >= 0.5) return true;
  }
  return false;
}

/**
 * Returns the placements that are open to a job by now, and when the next one opens. If a job must wait for a tier, the placements after
 * that tier open when the job has waited that long.
 */
export function openPlacements(
  job: Pick<Job, 'waitingSince'>,
  placements: readonly Placement[],
  now = performance.now(),
): { open: readonly Placement[]; nextAt: number } {
  let opensAt = job.waitingSince;
  let tier = placements[0]?.pool.tier;
  let maxWaitMs = 0;
  for (const [at, placement] of placements.entries()) {
    if (placement.pool.tier !== tier) opensAt += maxWaitMs;
    if (opensAt > now) return { open: placements.slice(0, at), nextAt: opensAt };
    tier = placement.pool.tier;
    maxWaitMs = placement.maxWaitMs ?? 0;
  }
  return { open: placements, nextAt: Number.POSITIVE_INFINITY };
}
