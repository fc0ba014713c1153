import { bodyPartBytes } from '../../contract/claim.ts';
import { awaitedTickets } from '../../contract/pull.ts';
import type { Job } from '../job.ts';
import { freeSlots, type LivePool, type LiveWorker, type Placement } from '../workers/live-pool.ts';
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
 * The worker that a new job can be offered to without a ticket, in the pool that its ticket would go to. None
 *
 * - when jobs of this ingress wait for that pool already: they come first;
 * - for a tool: once it is offered nobody knows for sure whether it has begun, and it must not run twice;
 * - for a body so large that a refusal would cost more than the offer saves.
 * See docs/decisions/0002-offers-beside-tickets.md.
 */
export function chooseOffer(job: Job, placements: readonly Placement[]): Offer | undefined {
  const isFit = job.request.operation !== 'execute_tool' && (job.body?.length ?? 0) <= bodyPartBytes;
  const placement = isFit ? openPlacements(job, placements).open.find(({ pool }) => freeSlots(pool) > 0) : undefined;
  if (!placement || placement.pool.waiting > 0) return undefined;
  const worker = chooseWorker(placement.pool, job.avoid);
  const at = worker?.announcement.offersAt;
  const v = placement.pool.contract;
  return worker && at !== undefined && v !== undefined ? { worker, placement, at, v } : undefined;
}

/**
 * The one with more free slots of two that are drawn: what is known of a worker's other jobs is up to a second old, and
 * several ingresses that all chose the very best would all choose the same one.
 */
function chooseWorker({ workers }: LivePool, avoid: ReadonlySet<string>): LiveWorker | undefined {
  const able = [...workers].filter(
    (worker) =>
      worker.announcement.offersAt !== undefined &&
      worker.announcement.accepting &&
      !worker.hasRefused &&
      !avoid.has(worker.id) &&
      spare(worker) > awaitedTickets,
  );
  const at = Math.floor(Math.random() * able.length);
  const one = able[at];
  const other = able[(at + 1 + Math.floor(Math.random() * (able.length - 1))) % able.length];
  return one && other && spare(other) > spare(one) ? other : one;
}

function spare({ announcement, held, others }: LiveWorker): number {
  return announcement.slots - others - held;
}
