import type { Job } from '../job.ts';
import { isLeftOut, isServing, nobody, type LiveWorker } from '../workers/live-pool.ts';

/** A worker that a ticket can be sent to. */
export interface Recipient {
  /** The worker's subject for offers, which takes tickets too. */
  at: string;
  /** Version of the contract that is spoken with it. */
  v: number;
}

/**
 * The worker that a ticket of a waiting job is sent to: any with a free slot in a pool that the job has a ticket in, drawn, so that
 * one that does not answer is not asked again and again.
 * @param mayTake whether a worker may be given the job, by what is known of its other jobs
 */
export function chooseRecipient(job: Job, mayTake: (worker: LiveWorker) => boolean): Recipient | undefined {
  const now = performance.now();
  const able: Recipient[] = [];
  for (const [pool, { place, placement }] of job.tickets.placed) {
    if (place.isHeld || pool.contract === undefined) continue;
    const avoid = isServing(pool, job.avoid) ? job.avoid : nobody;
    for (const worker of pool.workers) {
      const { offersAt } = worker.announcement;
      if (offersAt === undefined || !hasFreeSlot(worker) || avoid.has(worker.id)) continue;
      if (isLeftOut(worker, placement.model, now) || !mayTake(worker)) continue;
      able.push({ at: offersAt, v: pool.contract });
    }
  }
  return able[Math.floor(Math.random() * able.length)];
}

function hasFreeSlot({ announcement, held, others }: Pick<LiveWorker, 'announcement' | 'held' | 'others'>): boolean {
  return announcement.accepting && announcement.slots > held + others;
}
