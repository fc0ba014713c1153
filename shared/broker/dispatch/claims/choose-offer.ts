import type { Job } from '../job.ts';
import { countFreeSlots, type LiveWorker, type Placement } from '../workers/live-pool.ts';
import { chooseWorker } from './choose-worker.ts';
import { openPlacements } from './placements.ts';

export interface Offer {
  worker: LiveWorker;
  placement: Placement;
  at: string;
  v: number;
}

/**
 * Chooses a worker to which a job can be offered without a ticket. Its pool is the one that the ticket would go to, or an equally good one.
 * Returns undefined
 *
 * - for a new job, if jobs of this dispatcher wait for that pool already, because they come first;
 * - for a tool call, because after an offer it is uncertain whether the call has begun, and it must not run twice.
 * See docs/decisions/0002-offers-beside-tickets.md.
 * @param mayTake whether a worker may get the job, considering its other jobs
 * @param hasWaited whether the job waits in the queue and is next in line
 */
export function chooseOffer(
  job: Job,
  placements: readonly Placement[],
  mayTake: (worker: LiveWorker) => boolean,
  hasWaited = false,
): Offer | undefined {
  const open = job.request.operation === 'execute_tool' ? [] : openPlacements(job, placements).open;
  const isFree = ({ pool, model }: Placement): boolean =>
    countFreeSlots(pool, model) + (hasWaited ? pool.waiting : 0) > 0;
  const comesFirst = ({ pool }: Placement): boolean => hasWaited || pool.waiting === 0;
  const first = open.find(isFree);
  if (!first || !comesFirst(first)) return undefined;
  const equal = open.filter(
    (each) => each === first || (first.group !== undefined && each.group === first.group && comesFirst(each)),
  );
  const choice = chooseWorker(equal, job.request.affinity, job.avoid, mayTake);
  const at = choice?.worker.announcement.offersAt;
  const v = choice?.placement.pool.contract;
  return choice && at !== undefined && v !== undefined ? { ...choice, at, v } : undefined;
}
