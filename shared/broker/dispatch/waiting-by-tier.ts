import type { Tier } from '../contract/lane.ts';
import type { Job } from './job.ts';

/**
 * How many of these jobs wait for each tier: one counts in every tier that may serve it, with workers or without. This is what
 * an autoscaler goes by, so a tier without a worker must not look as if nobody wanted it.
 */
export function waitingByTier(jobs: Iterable<Pick<Job, 'state' | 'placed' | 'tiers'>>): Partial<Record<Tier, number>> {
  const counts: Partial<Record<Tier, number>> = {};
  for (const { state, placed, tiers } of jobs) {
    if (state !== 'queued') continue;
    // What it waits for now may have come after its tiers were settled.
    const all = new Set(tiers);
    for (const { tier } of placed.keys()) all.add(tier);
    for (const tier of all) counts[tier] = (counts[tier] ?? 0) + 1;
  }
  return counts;
}
