import type { Job } from '../job.ts';
import { hasWorkerBesides, noWorkers } from '../workers/live-pool.ts';
import type { LiveWorker } from '../workers/live-worker.ts';

/** A worker to which a ticket can be sent without the queue. */
export interface Recipient {
  /** The worker's subject for offers, which also takes tickets. */
  subject: string;
  /** The version of the contract to use. */
  v: number;
}

/**
 * Chooses a worker to which a ticket of a waiting job can be sent directly: a worker with a free slot in a pool in which the job has a
 * published ticket. The choice is random, so that a worker that does not answer is not chosen again and again. Returns undefined if there
 * is no such worker.
 * @param mayTake returns whether a worker may get the job beside its other jobs
 */
export function chooseRecipient(job: Job, mayTake: (worker: LiveWorker) => boolean): Recipient | undefined {
  const now = performance.now();
  const recipients: Recipient[] = [];
  for (const [pool, { place, placement }] of job.tickets.placed) {
    if (place.isHeld || pool.contract === undefined) continue;
    const workersToAvoid = hasWorkerBesides(pool, job.workersToAvoid) ? job.workersToAvoid : noWorkers;
    for (const worker of pool.workers) {
      const { offersAt } = worker.announcement;
      if (offersAt === undefined || worker.freeSlots <= 0 || workersToAvoid.has(worker.id)) continue;
      if (!worker.isAvailable(placement.model, now, workersToAvoid) || !mayTake(worker)) continue;
      recipients.push({ subject: offersAt, v: pool.contract });
    }
  }
  return recipients[Math.floor(Math.random() * recipients.length)];
}
