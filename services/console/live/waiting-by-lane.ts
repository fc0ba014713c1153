import type { Job } from '#shared/broker/dispatch/job.ts';
import type { Pulse } from '#shared/broker/pulse.ts';

/** Lanes told at most; those where most requests wait go first. */
const maxLanes = 200;

/** How many of these jobs wait in each lane. One that waits in several lanes counts in each. */
export function waitingByLane(jobs: Iterable<Job>): Pulse['lanes'] {
  const lanes = new Map<string, Pulse['lanes'][number]>();
  for (const { state, placed, request } of jobs) {
    if (state !== 'queued') continue;
    for (const { tier, pool } of placed.keys()) {
      const name = `${tier}.${pool}.${request.class}`;
      const lane = lanes.get(name);
      if (lane) lane.waiting += 1;
      else lanes.set(name, { tier, pool, class: request.class, waiting: 1 });
    }
  }
  return [...lanes.values()].sort((a, b) => b.waiting - a.waiting).slice(0, maxLanes);
}
