import type { Announcement, ModelInfo, ToolInfo } from '../../contract/announcement.ts';
import type { Tier } from '#shared/core/tier.ts';
import type { WorkerAddress } from '../../contract/worker-address.ts';

/** One worker as this ingress sees it. */
export interface LiveWorker {
  /** What it is called in the whole cluster, see `workerIdOf`. */
  id: string;
  /** Where it is talked to. Checked by the broker, so that nobody can speak for another. */
  address: WorkerAddress;
  announcement: Announcement;
  pool: LivePool;
  /** The announcement's bytes, to skip reading one that says nothing new. */
  raw: Buffer;
  lastHeartbeatAt: number;
  /** Jobs that this ingress has granted or offered to the worker and that are not over. */
  held: number;
  /** Its jobs of other ingresses, when it last heartbeat. */
  others: number;
  /** Whether it has refused a job since it last heartbeat: it is asked no more until then. */
  hasRefused: boolean;
}

/** Interchangeable workers: the unit that a request's lanes are chosen from. */
export interface LivePool {
  tier: Tier;
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
}

/** No worker is to be avoided. */
export const nobody: ReadonlySet<string> = new Set();

/** Slots of a pool that nobody uses and no ticket of this ingress is on its way to. Negative when requests wait. */
export function freeSlots(pool: LivePool): number {
  let free = -pool.waiting;
  for (const { announcement, held, others } of pool.workers) {
    if (announcement.accepting) free += Math.max(0, announcement.slots - others - held);
  }
  return free;
}

/** What a worker says it is busy with, less what it holds for this ingress. */
export function jobsOfOthers({ announcement, held }: LiveWorker): number {
  return Math.max(0, announcement.busy - held);
}
