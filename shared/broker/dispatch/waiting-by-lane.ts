import type { Lane } from '../contract/lane.ts';
import type { Job } from './job.ts';

/** The requests that wait in one lane. */
export interface WaitingLane extends Lane {
  waiting: number;
  /** Since when the one that waits longest does, a time of `performance.now()`. */
  since: number;
}

/** Lanes told at most; those where most requests wait go first. */
const maxLanes = 200;

/** How many of these jobs wait in each lane, and for how long. One that waits in several lanes counts in each. */
export function waitingByLane(
  jobs: Iterable<Pick<Job, 'state' | 'placed' | 'request' | 'waitingSince'>>,
): WaitingLane[] {
  const lanes = new Map<string, WaitingLane>();
  for (const { state, placed, request, waitingSince } of jobs) {
    if (state !== 'queued') continue;
    for (const { tier, pool } of placed.keys()) {
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
