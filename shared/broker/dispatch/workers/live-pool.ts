import type { Announcement, ModelInfo, ToolInfo } from '../../contract/announcement.ts';
import type { Tier } from '#shared/core/tier.ts';
import type { WorkerAddress } from '../../contract/worker-address.ts';
import type { ProofOfLife } from './proof-of-life.ts';
import type { WorkerHealth } from './worker-health.ts';

/** One worker as this ingress sees it. */
export interface LiveWorker {
  /** Its name in the whole cluster, see `workerIdOf`. */
  id: string;
  /** Its place among others when conversations are shared out, see `rendezvousPoint`. */
  point: number;
  /** Its subjects. Checked by the broker, so that no worker can speak for another. */
  address: WorkerAddress;
  announcement: Announcement;
  pool: LivePool;
  /** The announcement's bytes: one that is the same need not be read. */
  raw: Buffer;
  /** Slots in use when it was announced; `announcement.busy` is as of the last heartbeat. */
  announcedBusy: number;
  /** When this ingress came to know it: it joined, came back after it was lost, or was there before the ingress. */
  joinedAt: number;
  /** When its last heartbeat came, or silence was last counted anew. */
  lastHeartbeatAt: number;
  life: ProofOfLife;
  /** When the last frame of a job came from it: a worker that sends frames is alive. */
  lastFrameAt: number;
  /** Jobs that this ingress has granted or offered to the worker and that are not over. */
  held: number;
  /** Its jobs of other ingresses, as of its last heartbeat. */
  others: number;
  /** Whether it has refused an offer since its last heartbeat, or the next one is late: it gets no offers until then. */
  hasRefused: boolean;
  /** What the outcomes of its jobs say: with which models it is ejected, and how soon their first tokens come. */
  health: WorkerHealth;
}

/** Interchangeable workers: the unit that a request's lanes are chosen from. */
export interface LivePool {
  /** Identifies it in this process, see `LivePools.poolFor`. */
  key: string;
  tier: Tier;
  /** The token of its lanes. Another pool whose workers claim the same one has the same lanes. */
  pool: string;
  /** Version of the contract that is spoken with its workers; undefined when they and this ingress share none. */
  contract: number | undefined;
  /** Client formats that its workers answer in. */
  formats: readonly string[];
  models: readonly ModelInfo[];
  tools: readonly ToolInfo[];
  workers: Set<LiveWorker>;
  /** Tickets of this ingress that wait in the pool's lanes. */
  waiting: number;
}

/** A pool that can serve a job, and the model it would serve it with. */
export interface Placement {
  pool: LivePool;
  model: string;
  /** Milliseconds that a job waits for this tier before it may go to the next one, even when that one is free. */
  maxWaitMs?: number | undefined;
  /** Placements of one request with the same group are equally good. */
  group?: number | undefined;
  /** What chose it, as its owner records it; undefined if nothing but the request did. */
  rule?: string | undefined;
}

/** How a worker was lost: it said good-bye, another process has taken its place, or no heartbeats came. */
export type Loss = 'left' | 'replaced' | 'silent';

/** As the log says it. */
export const lossTexts: Record<Loss, string> = {
  left: 'worker left',
  replaced: 'worker was restarted',
  silent: 'worker is lost',
};

/** No worker is to be avoided. */
export const nobody: ReadonlySet<string> = new Set();

/**
 * Free slots of a pool, without those of workers that are ejected with the model, or with any where none is named, less the
 * tickets of this ingress that wait there. Negative when requests wait.
 */
export function freeSlots(pool: LivePool, model?: string): number {
  let free = -pool.waiting;
  for (const { announcement, held, others, health } of pool.workers) {
    if (announcement.accepting && !health.isEjected(model)) free += Math.max(0, announcement.slots - others - held);
  }
  return free;
}

/** The jobs that a worker announces as running, less those of this ingress. */
export function jobsOfOthers({ announcement, held }: LiveWorker): number {
  return Math.max(0, announcement.busy - held);
}

/**
 * Whether a worker is left out of the choice for a model: it is ejected, no probe of it is due, and its pool has another one that
 * takes jobs. Better a sick worker than none.
 */
export function isLeftOut({ health, pool }: LiveWorker, model: string, now = performance.now()): boolean {
  if (health.mayTake(model, now)) return false;
  for (const peer of pool.workers) if (peer.announcement.accepting && !peer.health.isEjected(model)) return true;
  return false;
}

/** Whether a pool has a model or tool of this name. */
export function serves({ models, tools }: Pick<LivePool, 'models' | 'tools'>, name: string): boolean {
  return models.some(({ id }) => id === name) || tools.some((tool) => tool.name === name);
}

/** Whether a pool has a worker that takes jobs, besides those to be avoided. */
export function isServing(pool: Pick<LivePool, 'workers'>, avoid: ReadonlySet<string>): boolean {
  for (const { id, announcement } of pool.workers) if (announcement.accepting && !avoid.has(id)) return true;
  return false;
}
