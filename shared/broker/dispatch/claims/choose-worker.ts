import { awaitedTickets } from '../../contract/pull.ts';
import { isLeftOut, type LivePool, type LiveWorker } from '../workers/live-pool.ts';
import { rendezvousScore } from '../workers/rendezvous.ts';

/** The part of its slots up to which a worker takes the requests of its conversations, however idle the others are. */
const roomyPart = 0.5;

/** Beyond that, it takes them while its load is at most this many times the mean. */
const mostOfMean = 1.25;

/**
 * The worker of these pools that a job is offered to: the one that its conversation belongs to, so that it finds its prompt
 * cache, while that one has room; then the next in the conversation's own order of workers. A job without a conversation goes
 * to the better one of two that are drawn.
 * See docs/decisions/0009-conversations-stay-with-workers.md.
 * @param affinity the job's conversation, a number of 32 bits
 */
export function chooseWorker(
  pools: readonly LivePool[],
  affinity: number | undefined,
  avoid: ReadonlySet<string>,
): LiveWorker | undefined {
  const able: LiveWorker[] = [];
  let slots = 0;
  // The job itself is among them.
  let busy = 1;
  for (const { workers } of pools) {
    for (const worker of workers) {
      if (!worker.announcement.accepting || avoid.has(worker.id) || isLeftOut(worker)) continue;
      slots += worker.announcement.slots;
      busy += worker.held + worker.others;
      if (isAble(worker)) able.push(worker);
    }
  }
  const chosen =
    affinity === undefined
      ? undefined
      : firstWithRoom(able, affinity, Math.max(roomyPart, (mostOfMean * busy) / slots));
  return chosen ?? betterOfTwo(able);
}

function isAble(worker: LiveWorker): boolean {
  return worker.announcement.offersAt !== undefined && !worker.hasRefused && spare(worker) > awaitedTickets;
}

/** The first one in a conversation's order whose load, as a part of its slots, is below this one. */
function firstWithRoom(able: readonly LiveWorker[], affinity: number, mostLoad: number): LiveWorker | undefined {
  let first: LiveWorker | undefined;
  let best = 0;
  for (const worker of able) {
    const { slots } = worker.announcement;
    if (worker.held + worker.others >= mostLoad * slots) continue;
    const score = rendezvousScore(affinity, worker.point, slots);
    if (score <= best) continue;
    first = worker;
    best = score;
  }
  return first;
}

/**
 * The one with more free slots of two that are drawn: what is known of a worker's other jobs is up to a second old, and
 * several ingresses that all chose the very best would all choose the same one.
 */
function betterOfTwo(able: readonly LiveWorker[]): LiveWorker | undefined {
  const at = Math.floor(Math.random() * able.length);
  const one = able[at];
  const other = able[(at + 1 + Math.floor(Math.random() * (able.length - 1))) % able.length];
  return one && other && spare(other) > spare(one) ? other : one;
}

function spare({ announcement, held, others }: LiveWorker): number {
  return announcement.slots - others - held;
}
