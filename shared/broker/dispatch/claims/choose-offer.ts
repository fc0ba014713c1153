import type { Job } from '../job.ts';
import { freeSlots, type LiveWorker, type Placement } from '../workers/live-pool.ts';
import { chooseWorker } from './choose-worker.ts';
import { openPlacements } from './placements.ts';

/** The worker that a job is offered to. */
export interface Offer {
  worker: LiveWorker;
  placement: Placement;
  /** The worker's subject for offers. */
  at: string;
  /** Version of the contract that is spoken with it. */
  v: number;
}

/**
 * The worker that a job can be offered to without a ticket, in the pool that its ticket would go to or an equally good one.
 * None
 *
 * - for a new job, when jobs of this ingress wait for that pool already: they come first;
 * - for a tool: once it is offered nobody knows for sure whether it has begun, and it must not run twice.
 * See docs/decisions/0002-offers-beside-tickets.md.
 * @param mayTake whether a worker may be given the job, by what is known of its other jobs
 * @param hasWaited whether the job is among those that wait, and its turn has come
 */
export function chooseOffer(
  job: Job,
  placements: readonly Placement[],
  mayTake: (worker: LiveWorker) => boolean,
  hasWaited = false,
): Offer | undefined {
  const open = job.request.operation === 'execute_tool' ? [] : openPlacements(job, placements).open;
  const isFree = ({ pool, model }: Placement): boolean => freeSlots(pool, model) + (hasWaited ? pool.waiting : 0) > 0;
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
