import { isProbing } from '../../contract/announcement.ts';
import { countTicketSlots } from '../../contract/pull.ts';
import type { Placement } from '../workers/live-pool.ts';
import type { LiveWorker } from '../workers/live-worker.ts';
import { computeRendezvousScore } from '../workers/rendezvous.ts';

/** The share of its slots up to which a worker always gets the requests of its conversations, however idle the other workers are. */
const affinityShare = 0.5;

/** Above `affinityShare`, a worker gets the requests of its conversations while its load is at most this many times the mean load. */
const maxLoadOfMean = 1.25;

/** The factor by which the first token may take longer at the conversation's first worker than at its second one. */
const maxSlowdown = 3;

/** Milliseconds that are added to each time to the first token, so that imperceptible differences decide nothing. */
const toleranceMs = 100;

/**
 * Chooses the worker to which a job is offered, and its placement. Each conversation has an order of workers. Its first worker, which has
 * the prompt cache, gets the job while that worker has room and is not slow; otherwise the next worker in the order gets it. A job without
 * a conversation goes to the better of two random workers. A probing worker is chosen as often as the others, for any job. Returns
 * undefined if no worker can get the job.
 * See docs/decisions/0009-conversations-stay-with-workers.md.
 * @param placements placements that are equally good
 * @param affinity the job's conversation, a number of 32 bits; undefined if the job has none
 * @param avoid the ids of workers that must not get the job
 * @param mayTake returns whether a worker may get the job beside its other jobs
 */
export function chooseWorker(
  placements: readonly Placement[],
  affinity: number | undefined,
  avoid: ReadonlySet<string>,
  mayTake: (worker: LiveWorker) => boolean = () => true,
): { worker: LiveWorker; placement: Placement } | undefined {
  const now = performance.now();
  const ableWorkers: LiveWorker[] = [];
  const probing: LiveWorker[] = [];
  let slots = 0;
  // The new job counts as well.
  let busy = 1;
  for (const { pool, model } of placements) {
    for (const worker of pool.workers) {
      if (avoid.has(worker.id) || !worker.isAvailable(model, now)) continue;
      slots += worker.announcement.slots;
      busy += worker.ownJobs + worker.otherJobs;
      if (canGetOffer(worker) && mayTake(worker)) (isProbing(worker.announcement) ? probing : ableWorkers).push(worker);
    }
  }
  const findPlacement = ({ pool }: LiveWorker) => placements.find((each) => each.pool === pool);
  const firstTokenMs = (worker: LiveWorker): number | undefined => {
    const recent = worker.health.find(findPlacement(worker)?.model ?? '')?.outcomes;
    return recent && recent.countFirstTokens(now) >= 1 ? recent.firstTokenMs : undefined;
  };
  const maxLoad = Math.max(affinityShare, (maxLoadOfMean * busy) / slots);
  // A probing worker gets its share of the jobs, even if other workers are better, because its upstream may have recovered.
  const probe = probing[Math.floor(Math.random() * (ableWorkers.length + probing.length))];
  const conversationWorker =
    affinity === undefined || probe ? undefined : chooseByAffinity(ableWorkers, affinity, maxLoad, firstTokenMs);
  const worker = probe ?? conversationWorker ?? chooseBetterOfTwo(ableWorkers, firstTokenMs);
  const placement = worker && findPlacement(worker);
  return placement && { worker, placement };
}

type FirstTokenMs = (worker: LiveWorker) => number | undefined;

function canGetOffer({ getsOffers, freeSlots, announcement }: LiveWorker): boolean {
  return announcement.offersAt !== undefined && getsOffers && freeSlots > countTicketSlots(announcement);
}

/**
 * Returns the first worker in a conversation's order whose load is below `maxLoad`, or the second such worker if the first is slow.
 * @param maxLoad the maximum share of a worker's slots that may be in use
 */
function chooseByAffinity(
  able: readonly LiveWorker[],
  affinity: number,
  maxLoad: number,
  firstTokenMs: FirstTokenMs,
): LiveWorker | undefined {
  let first: LiveWorker | undefined;
  let second: LiveWorker | undefined;
  let [best, nextBest] = [0, 0];
  for (const worker of able) {
    const { slots } = worker.announcement;
    if (worker.ownJobs + worker.otherJobs >= maxLoad * slots) continue;
    const score = computeRendezvousScore(affinity, worker.affinityPoint, slots);
    if (score > best) {
      [second, nextBest] = [first, best];
      [first, best] = [worker, score];
    } else if (score > nextBest) [second, nextBest] = [worker, score];
  }
  if (!first || !second) return first;
  const [ms, msOfSecond] = [firstTokenMs(first), firstTokenMs(second)];
  if (ms === undefined || msOfSecond === undefined) return first;
  return ms + toleranceMs > maxSlowdown * (msOfSecond + toleranceMs) ? second : first;
}

/**
 * Draws two workers and returns the one with more free slots relative to its time to the first token. It does not choose the best of all
 * workers, because a worker's count of other jobs is up to a second old, so several dispatchers would all choose the same worker.
 */
function chooseBetterOfTwo(able: readonly LiveWorker[], firstTokenMs: FirstTokenMs): LiveWorker | undefined {
  const at = Math.floor(Math.random() * able.length);
  const one = able[at];
  const other = able[(at + 1 + Math.floor(Math.random() * (able.length - 1))) % able.length];
  if (!one || !other) return one;
  const [ms, msOfOther] = [firstTokenMs(one), firstTokenMs(other)];
  // If the time of one worker is unknown, the free slots decide.
  const slower = ms === undefined || msOfOther === undefined ? 1 : (ms + toleranceMs) / (msOfOther + toleranceMs);
  return other.freeSlots * slower > one.freeSlots ? other : one;
}
