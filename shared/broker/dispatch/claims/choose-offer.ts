import type { Job } from '../job.ts';
import { countFreeSlots, type Placement } from '../workers/live-pool.ts';
import type { LiveWorker } from '../workers/live-worker.ts';
import { chooseWorker } from './choose-worker.ts';
import { findOpenPlacements } from './placements.ts';

/** A worker to which a job can be offered, and the facts that the offer needs. */
export interface Offer {
  worker: LiveWorker;
  placement: Placement;
  /** The worker's subject for offers. */
  subject: string;
  /** The version of the contract to use. */
  v: number;
}

/**
 * Chooses a worker to which a job can be offered without a ticket. The worker belongs to the first pool with a free slot, which would get
 * the ticket, or to an equally good pool. Returns undefined in these cases:
 *
 * - no such worker can get the job;
 * - the job is new, and jobs of this dispatcher already wait for that pool: they come first;
 * - the job is a tool call: after an offer it is uncertain whether the call has begun, and a call must not run twice.
 *
 * See docs/decisions/0002-offers-beside-tickets.md.
 * @param mayTake returns whether a worker may get the job beside its other jobs
 * @param hasWaited whether the job waits in the queue and is next in line
 */
export function chooseOffer(
  job: Job,
  placements: readonly Placement[],
  mayTake: (worker: LiveWorker) => boolean,
  hasWaited = false,
): Offer | undefined {
  const open = job.request.operation === 'execute_tool' ? [] : findOpenPlacements(job, placements).open;
  const isFree = ({ pool, model }: Placement): boolean =>
    countFreeSlots(pool, model) + (hasWaited ? pool.waiting : 0) > 0;
  const comesFirst = ({ pool }: Placement): boolean => hasWaited || pool.waiting === 0;
  const firstFree = open.find(isFree);
  if (!firstFree || !comesFirst(firstFree)) return undefined;
  const equallyGood = open.filter(
    (each) =>
      each === firstFree || (firstFree.group !== undefined && each.group === firstFree.group && comesFirst(each)),
  );
  const choice = chooseWorker(equallyGood, job.request.affinity, job.workersToAvoid, mayTake);
  const subject = choice?.worker.announcement.offersAt;
  const v = choice?.placement.pool.contract;
  return choice && subject !== undefined && v !== undefined ? { ...choice, subject, v } : undefined;
}
