import type { Job } from '../job.ts';
import { nobody, type Placement } from '../workers/live-pool.ts';

/** Where a job may be served right now, best first. Workers that failed on it are avoided, unless there is nobody else. */
export function placementsOf({ request, avoid }: Job): Placement[] {
  const placements = request.place(avoid);
  return placements.length > 0 || avoid.size === 0 ? placements : request.place(nobody);
}

/**
 * The placements that a job may use by now, and when the next one opens: those behind a tier that a job is to wait for open
 * when the job has waited that long.
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
