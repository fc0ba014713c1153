import { nobody, type Job, type Placement } from './job.ts';

/** Where a job may be served right now, best first. Workers that failed on it are avoided, unless there is nobody else. */
export function placementsOf({ request, avoid }: Job): Placement[] {
  const placements = request.place(avoid);
  return placements.length > 0 || avoid.size === 0 ? placements : request.place(nobody);
}

/**
 * The placements that a job may use by now, and when the next one opens: those behind a tier that asks for patience
 * wait until the job has waited that long.
 */
export function openPlacements(
  job: Pick<Job, 'waitingSince'>,
  placements: readonly Placement[],
  now = performance.now(),
): { open: readonly Placement[]; nextAt: number } {
  let opensAt = job.waitingSince;
  let tier = placements[0]?.pool.tier;
  let patienceMs = 0;
  for (const [at, placement] of placements.entries()) {
    if (placement.pool.tier !== tier) opensAt += patienceMs;
    if (opensAt > now) return { open: placements.slice(0, at), nextAt: opensAt };
    tier = placement.pool.tier;
    patienceMs = placement.patienceMs ?? 0;
  }
  return { open: placements, nextAt: Number.POSITIVE_INFINITY };
}
