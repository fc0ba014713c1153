import type { Job } from '../job.ts';
import { isLeftOut, isServing, noWorkers, type LiveWorker } from '../workers/live-pool.ts';

export interface Recipient {
  /** The worker's subject for offers. Tickets can be sent there, too. */
  at: string;
  v: number;
}

/**
 * Chooses the worker to which a waiting job's ticket is sent. It may be any worker with a free slot in a pool in which the job has a
 * ticket. The choice is random, so that a worker that does not answer is not chosen again and again.
 * @param mayTake whether a worker may get the job, considering its other jobs
 */
export function chooseRecipient(job: Job, mayTake: (worker: LiveWorker) => boolean): Recipient | undefined {
  const now = performance.now();
  const able: Recipient[] = [];
  for (const [pool, { place, placement }] of job.tickets.placed) {
    if (place.isHeld || pool.contract === undefined) continue;
    const avoid = isServing(pool, job.avoid) ? job.avoid : noWorkers;
    for (const worker of pool.workers) {
      const { offersAt } = worker.announcement;
      if (offersAt === undefined || !hasFreeSlot(worker) || avoid.has(worker.id)) continue;
      if (isLeftOut(worker, placement.model, now) || !mayTake(worker)) continue;
      able.push({ at: offersAt, v: pool.contract });
    }
  }
  return able[Math.floor(Math.random() * able.length)];
}

function hasFreeSlot({
  announcement,
  held,
  otherJobs: others,
}: Pick<LiveWorker, 'announcement' | 'held' | 'otherJobs'>): boolean {
  return announcement.accepting && announcement.slots > held + others;
}
