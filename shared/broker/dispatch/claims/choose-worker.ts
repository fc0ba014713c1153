import { isProbing } from '../../contract/announcement.ts';
import { countTicketSlots } from '../../contract/pull.ts';
import type { Placement } from '../workers/live-pool.ts';
import type { LiveWorker } from '../workers/live-worker.ts';
import { computeRendezvousScore } from '../workers/rendezvous.ts';

/**
 * While less than this share of its slots is in use, a worker gets all requests of its conversations, however idle the other workers are.
 */
const affinityShare = 0.5;

/**
 * Above `affinityShare`, a worker gets the requests of its conversations only while its load is less than this multiple of the mean load.
 */
const maxLoadFactor = 1.25;

/** Maximum ratio of the time to the first token at a conversation's first worker to that time at its second worker. */
const maxSlowdown = 3;

/** Milliseconds that are added to each time to the first token, so that imperceptible differences do not decide. */
const toleranceMs = 100;

/**
 * Chooses the worker to which a job is offered, and its placement. Each conversation has an order of workers. The first worker in this
 * order, which has the prompt cache, gets the job while it has room and is not slow. Otherwise the next worker in the order gets the job. A
 * job without a conversation goes to the better of two random workers. A probing worker is chosen as often as any other worker, for any
 * job. Returns undefined if no worker can get the job.
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
  let totalSlots = 0;
  // The new job counts as well.
  let busySlots = 1;
  for (const { pool, model } of placements) {
    for (const worker of pool.workers) {
      if (avoid.has(worker.id) || !worker.isAvailable(model, now, avoid)) continue;
      totalSlots += worker.announcement.slots;
      busySlots += worker.ownJobs + worker.otherJobs;
      if (canGetOffer(worker) && mayTake(worker)) (isProbing(worker.announcement) ? probing : ableWorkers).push(worker);
    }
  }
  const findPlacement = ({ pool }: LiveWorker) => placements.find((each) => each.pool === pool);
  const getFirstTokenMs = (worker: LiveWorker): number | undefined => {
    const recent = worker.health.find(findPlacement(worker)?.model ?? '')?.outcomes;
    return recent && recent.countFirstTokens(now) >= 1 ? recent.firstTokenMs : undefined;
  };
  const maxLoad = Math.max(affinityShare, (maxLoadFactor * busySlots) / totalSlots);
  // A probing worker gets its share of the jobs, even if other workers are better, because its upstream may have recovered.
  const probe = probing[Math.floor(Math.random() * (ableWorkers.length + probing.length))];
  const conversationWorker =
    affinity === undefined || probe ? undefined : chooseByAffinity(ableWorkers, affinity, maxLoad, getFirstTokenMs);
  const worker = probe ?? conversationWorker ?? chooseBetterOfTwo(ableWorkers, getFirstTokenMs);
  const placement = worker && findPlacement(worker);
  return placement && { worker, placement };
}

type GetFirstTokenMs = (worker: LiveWorker) => number | undefined;

function canGetOffer({ getsOffers, freeSlots, announcement }: LiveWorker): boolean {
  return announcement.offersAt !== undefined && getsOffers && freeSlots > countTicketSlots(announcement);
}

/**
 * Chooses a worker for a conversation: the first worker in the conversation's order with a load below `maxLoad`, or the second such worker
 * if the first is slow.
 * @param maxLoad the maximum share of a worker's slots that may be in use
 */
function chooseByAffinity(
  workers: readonly LiveWorker[],
  affinity: number,
  maxLoad: number,
  getFirstTokenMs: GetFirstTokenMs,
): LiveWorker | undefined {
  let first: LiveWorker | undefined;
  let second: LiveWorker | undefined;
  let [firstScore, secondScore] = [0, 0];
  for (const worker of workers) {
    const { slots } = worker.announcement;
    if (worker.ownJobs + worker.otherJobs >= maxLoad * slots) continue;
    const score = computeRendezvousScore(affinity, worker.affinityPoint, slots);
    if (score > firstScore) {
      [second, secondScore] = [first, firstScore];
      [first, firstScore] = [worker, score];
    } else if (score > secondScore) [second, secondScore] = [worker, score];
  }
  if (!first || !second) return first;
  const [firstMs, secondMs] = [getFirstTokenMs(first), getFirstTokenMs(second)];
  if (firstMs === undefined || secondMs === undefined) return first;
  return firstMs + toleranceMs > maxSlowdown * (secondMs + toleranceMs) ? second : first;
}

/**
 * Draws two workers and returns the worker with more free slots relative to its time to the first token. Choosing the best of all workers
 * would make several dispatchers choose the same worker, because a worker's count of other jobs is up to a second old.
 */
function chooseBetterOfTwo(workers: readonly LiveWorker[], getFirstTokenMs: GetFirstTokenMs): LiveWorker | undefined {
  const index = Math.floor(Math.random() * workers.length);
  const candidate = workers[index];
  const rival = workers[(index + 1 + Math.floor(Math.random() * (workers.length - 1))) % workers.length];
  if (!candidate || !rival) return candidate;
  const [candidateMs, rivalMs] = [getFirstTokenMs(candidate), getFirstTokenMs(rival)];
  // If the time of one worker is unknown, the free slots decide.
  const slowdown =
    candidateMs === undefined || rivalMs === undefined ? 1 : (candidateMs + toleranceMs) / (rivalMs + toleranceMs);
  return rival.freeSlots * slowdown > candidate.freeSlots ? rival : candidate;
}
