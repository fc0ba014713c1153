import { isProbing } from '../../contract/announcement.ts';
import { slotsForTickets } from '../../contract/pull.ts';
import { isLeftOut, type LiveWorker, type Placement } from '../workers/live-pool.ts';
import { rendezvousScore } from '../workers/rendezvous.ts';

/** The share of its slots up to which a worker always takes the requests of its conversations, however idle the other workers are. */
const affinityShare = 0.5;

/** Above that share, a worker takes these requests while its load is at most this many times the mean. */
const maxOfMean = 1.25;

/** The factor by which the first token may take longer at the conversation's worker than at the next one. */
const maxTimesLater = 3;

/** Milliseconds added to all times to the first token, so that imperceptible differences decide nothing. */
const toleranceMs = 100;

/**
 * Chooses the worker that a job is offered to, with its placement. A conversation's own worker comes first while it has room and is not
 * slow, because it has the prompt cache. After it comes the next worker in the conversation's order. A job without a conversation goes to
 * the better one of two random workers. A probing worker has the same chance as the others, and takes any job.
 * See docs/decisions/0009-conversations-stay-with-workers.md.
 * @param placements placements that are equally good
 * @param affinity the job's conversation, a number of 32 bits
 * @param mayTake whether a worker may get the job, considering its other jobs
 */
export function chooseWorker(
  placements: readonly Placement[],
  affinity: number | undefined,
  avoid: ReadonlySet<string>,
  mayTake: (worker: LiveWorker) => boolean = () => true,
): { worker: LiveWorker; placement: Placement } | undefined {
  const now = performance.now();
  const able: LiveWorker[] = [];
  const probing: LiveWorker[] = [];
  let slots = 0;
  // The job itself counts.
  let busy = 1;
  for (const { pool, model } of placements) {
    for (const worker of pool.workers) {
      if (!worker.announcement.accepting || avoid.has(worker.id) || isLeftOut(worker, model, now)) continue;
      slots += worker.announcement.slots;
      busy += worker.held + worker.otherJobs;
      if (isAble(worker) && mayTake(worker)) (isProbing(worker.announcement) ? probing : able).push(worker);
    }
  }
  const placementOf = ({ pool }: LiveWorker) => placements.find((each) => each.pool === pool);
  const firstTokenMs = (worker: LiveWorker): number | undefined => {
    const recent = worker.health.find(placementOf(worker)?.model ?? '')?.outcomes;
    return recent && recent.firstTokens(now) >= 1 ? recent.firstTokenMs : undefined;
  };
  const maxLoad = Math.max(affinityShare, (maxOfMean * busy) / slots);
  // A probing worker gets its share of the jobs, one at a time, even if other workers are better, because its upstream may have recovered.
  const probe = probing[Math.floor(Math.random() * (able.length + probing.length))];
  const own = affinity === undefined || probe ? undefined : chooseByAffinity(able, affinity, maxLoad, firstTokenMs);
  const worker = probe ?? own ?? betterOfTwo(able, firstTokenMs);
  const placement = worker && placementOf(worker);
  return placement && { worker, placement };
}

type FirstTokenMs = (worker: LiveWorker) => number | undefined;

function isAble(worker: LiveWorker): boolean {
  const { announcement, hasRefused } = worker;
  return announcement.offersAt !== undefined && !hasRefused && spare(worker) > slotsForTickets(announcement);
}

/**
 * Returns the first worker in a conversation's order whose load, as a share of its slots, is below `maxLoad`; the second one if the
 * first is slow.
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
    if (worker.held + worker.otherJobs >= maxLoad * slots) continue;
    const score = rendezvousScore(affinity, worker.affinityPoint, slots);
    if (score > best) {
      [second, nextBest] = [first, best];
      [first, best] = [worker, score];
    } else if (score > nextBest) [second, nextBest] = [worker, score];
  }
  if (!first || !second) return first;
  const [ms, msOfSecond] = [firstTokenMs(first), firstTokenMs(second)];
  if (ms === undefined || msOfSecond === undefined) return first;
  return ms + toleranceMs > maxTimesLater * (msOfSecond + toleranceMs) ? second : first;
}

/**
 * Draws two workers and returns the one with more free slots relative to its time to the first token. The best of all is not chosen. The
 * counts of a worker's other jobs are up to a second old, so several dispatchers would all choose the same worker.
 */
function betterOfTwo(able: readonly LiveWorker[], firstTokenMs: FirstTokenMs): LiveWorker | undefined {
  const at = Math.floor(Math.random() * able.length);
  const one = able[at];
  const other = able[(at + 1 + Math.floor(Math.random() * (able.length - 1))) % able.length];
  if (!one || !other) return one;
  const [ms, msOfOther] = [firstTokenMs(one), firstTokenMs(other)];
  // If the time of one worker is unknown, the free slots decide.
  const slower = ms === undefined || msOfOther === undefined ? 1 : (ms + toleranceMs) / (msOfOther + toleranceMs);
  return spare(other) * slower > spare(one) ? other : one;
}

function spare({ announcement, held, otherJobs: others }: LiveWorker): number {
  return announcement.slots - others - held;
}
