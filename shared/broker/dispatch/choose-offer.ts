import { bodyPartBytes } from '../claim.ts';
import type { Job, Placement } from './job.ts';
import { freeSlots, type LivePool, type LiveWorker } from './live-pool.ts';
import { openPlacements, placementsOf } from './placements.ts';

/** Whom a job is offered to. */
export interface Offer {
  worker: LiveWorker;
  placement: Placement;
  /** Subject that the worker takes it at. */
  at: string;
}

/**
 * The worker that a new job can be offered to without a ticket: the one with the most free slots in the pool that its
 * ticket would go to. None when others wait for that pool already, for they come first, or when the body is so large that
 * a refusal would cost more than the offer saves.
 */
export function chooseOffer(job: Job): Offer | undefined {
  if ((job.body?.length ?? 0) > bodyPartBytes) return undefined;
  const { open } = openPlacements(job, placementsOf(job));
  const placement = open.find(({ pool }) => freeSlots(pool) > 0);
  if (!placement || placement.pool.waiting > 0) return undefined;
  const worker = freest(placement.pool, job.avoid);
  const at = worker?.announcement.offersAt;
  return worker && at !== undefined ? { worker, placement, at } : undefined;
}

function freest({ workers }: LivePool, avoid: ReadonlySet<string>): LiveWorker | undefined {
  let best: LiveWorker | undefined;
  let most = 0;
  for (const worker of workers) {
    const { announcement, held, others, hasRefused, id } = worker;
    const free = announcement.slots - others - held.size;
    if (free <= most || !announcement.accepting || hasRefused || avoid.has(id)) continue;
    best = worker;
    most = free;
  }
  return best;
}
