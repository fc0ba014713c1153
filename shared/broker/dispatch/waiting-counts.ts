import type { Lane } from '../contract/subjects.ts';
import type { PriorityClass } from '#shared/core/priority-class.ts';
import type { Tier } from '#shared/core/tier.ts';
import type { Job } from './job.ts';

/** A lane with the number of jobs that wait in it. */
export interface WaitingLane extends Lane {
  waiting: number;
  /** When the longest wait began, in milliseconds of `performance.now()`. */
  since: number;
}

/** Maximum reported lanes; the lanes with the most waiting requests come first. */
const maxLanes = 200;

/** Counts the jobs that wait in each lane, the fullest lanes first. A job that waits in several lanes counts in each. */
export function countWaitingByLane(
  jobs: Iterable<Pick<Job, 'state' | 'tickets' | 'request' | 'waitingSince'>>,
): WaitingLane[] {
  const lanes = new Map<string, WaitingLane>();
  for (const { state, tickets, request, waitingSince } of jobs) {
    if (state !== 'queued') continue;
    for (const { tier, pool } of tickets.placed.keys()) {
      const name = `${tier}.${pool}.${request.class}`;
      const lane = lanes.get(name);
      if (lane) {
        lane.waiting += 1;
        lane.since = Math.min(lane.since, waitingSince);
      } else lanes.set(name, { tier, pool, class: request.class, waiting: 1, since: waitingSince });
    }
  }
  return [...lanes.values()].sort((a, b) => b.waiting - a.waiting).slice(0, maxLanes);
}

/** The number of jobs of one class that one tier may serve, and that wait in no lane because no live worker can serve them right now. */
export interface WaitingUnplaced {
  tier: Tier;
  class: PriorityClass;
  waiting: number;
}

/** Counts the jobs that wait in no lane, by tier and class. A job counts in every tier that may serve it. */
export function countUnplaced(
  jobs: Iterable<Pick<Job, 'state' | 'tickets' | 'tiers'> & { request: Pick<Job['request'], 'class'> }>,
): WaitingUnplaced[] {
  const counts = new Map<string, WaitingUnplaced>();
  for (const { state, tickets, tiers, request } of jobs) {
    if (state !== 'queued' || tickets.placed.size > 0) continue;
    for (const tier of tiers) {
      const name = `${tier}.${request.class}`;
      const count = counts.get(name);
      if (count) count.waiting += 1;
      else counts.set(name, { tier, class: request.class, waiting: 1 });
    }
  }
  return [...counts.values()];
}

/**
 * Counts the waiting jobs by tier. A job counts in every tier that may serve it. An autoscaler uses these counts, so jobs count even in a
 * tier without workers.
 */
export function countWaitingByTier(
  jobs: Iterable<Pick<Job, 'state' | 'tickets' | 'tiers'>>,
): Partial<Record<Tier, number>> {
  const counts: Partial<Record<Tier, number>> = {};
  for (const { state, tickets, tiers } of jobs) {
    if (state !== 'queued') continue;
    // The job may also wait in a lane of a tier that was added after `tiers` was computed.
    const countedTiers = new Set(tiers);
    for (const { tier } of tickets.placed.keys()) countedTiers.add(tier);
    for (const tier of countedTiers) counts[tier] = (counts[tier] ?? 0) + 1;
  }
  return counts;
}
