import type { Announcement, ModelInfo, ToolInfo } from '../../contract/announcement.ts';
import type { Tier } from '#shared/core/tier.ts';
import type { WorkerAddress } from '../../contract/worker-address.ts';
import type { ProofOfLife } from './proof-of-life.ts';
import type { WorkerHealth } from './worker-health.ts';

/** A worker that sends heartbeats. Times are milliseconds of `performance.now()`. */
export interface LiveWorker {
  /** The worker's name in the whole cluster, see `formatWorkerId`. */
  id: string;
  /** The worker's number for affinity, see `computeRendezvousPoint`. */
  affinityPoint: number;
  /** The worker's address. The broker has checked it, so no worker can act for another one. */
  address: WorkerAddress;
  announcement: Announcement;
  pool: LivePool;
  /** The announcement as it came. An announcement with the same bytes need not be parsed. */
  announcementBytes: Buffer;
  /** Slots in use according to the announcement as it came. `announcement.busy` changes with each heartbeat. */
  announcedBusy: number;
  /**
   * When this dispatcher first saw the worker, or saw it again after a loss. For a worker that was there before the dispatcher, that is
   * shortly after the dispatcher's start.
   */
  joinedAt: number;
  /** When the last heartbeat came, or `SilenceCheck` reset the silence of all workers. */
  lastHeartbeatAt: number;
  proofOfLife: ProofOfLife;
  /** When the last frame came from the worker. A worker that sends frames is alive. */
  lastFrameAt: number;
  /** The number of jobs that this dispatcher has granted or offered to the worker, and that have not ended. */
  ownJobs: number;
  /** The number of the worker's jobs of other dispatchers, according to its last heartbeat. */
  otherJobs: number;
  /**
   * Whether the worker gets no offers until its next heartbeat, because it has refused an offer since the last heartbeat, or its heartbeat
   * is late.
   */
  getsNoOffers: boolean;
  /** What this dispatcher knows from the outcomes of the worker's jobs: its ejections, and its times to the first token. */
  health: WorkerHealth;
}

/** A group of interchangeable workers: the unit from which a request's lanes are chosen. */
export interface LivePool {
  /** Identifies the pool in this process, see `LivePools.computeKey`. */
  key: string;
  tier: Tier;
  /**
   * The announced token of the pool in the subjects of its lanes. If workers of another pool announce the same token, both share the lanes.
   */
  pool: string;
  /** The version of the contract that this dispatcher speaks with the workers; undefined if they share no version. */
  contract: number | undefined;
  formats: readonly string[];
  models: readonly ModelInfo[];
  tools: readonly ToolInfo[];
  workers: Set<LiveWorker>;
  /** The number of tickets of this dispatcher that wait in the pool's lanes. */
  waiting: number;
}

/** A pool that can serve a job now, and the model that would serve it. */
export interface Placement {
  pool: LivePool;
  model: string;
  /** Milliseconds for which a job waits for this tier before it may go to the next tier, even if that tier is free. */
  maxWaitMs?: number | undefined;
  /** Of the placements of one request, those with the same group are equally good. */
  group?: number | undefined;
  /** The name of the rule that chose the placement; undefined if no rule did. */
  rule?: string | undefined;
}

/** How a worker was lost: it has sent `goodbye`, another process has replaced it, or no heartbeats came. */
export type Loss = 'left' | 'replaced' | 'silent';

export const lossTexts: Record<Loss, string> = {
  left: 'worker left',
  replaced: 'worker was restarted',
  silent: 'worker is lost',
};

export const noWorkers: ReadonlySet<string> = new Set();

/**
 * Returns the number of a pool's free slots minus the number of this dispatcher's waiting tickets, so it is negative if more tickets wait.
 * Does not count the slots of workers that are ejected with the model; without a model, of workers that are ejected with any model.
 */
export function countFreeSlots(pool: LivePool, model?: string): number {
  let free = -pool.waiting;
  for (const { announcement, ownJobs, otherJobs, health } of pool.workers) {
    if (announcement.accepting && !health.isEjected(model))
      free += Math.max(0, announcement.slots - otherJobs - ownJobs);
  }
  return free;
}

/** Returns the number of a worker's jobs of other dispatchers: the busy slots that it reports, minus this dispatcher's jobs. */
export function countOtherJobs({ announcement, ownJobs }: LiveWorker): number {
  return Math.max(0, announcement.busy - ownJobs);
}

/**
 * Whether a worker gets no job with a model: it is ejected, no probe is due, and its pool has another worker that takes such jobs. If there
 * is no other worker, an ejected one is better than none.
 */
export function isLeftOut({ health, pool }: LiveWorker, model: string, now = performance.now()): boolean {
  if (health.mayTake(model, now)) return false;
  for (const peer of pool.workers) if (peer.announcement.accepting && !peer.health.isEjected(model)) return true;
  return false;
}

/** Whether a pool has a model or tool with this name. */
export function servesName({ models, tools }: Pick<LivePool, 'models' | 'tools'>, name: string): boolean {
  return models.some(({ id }) => id === name) || tools.some((tool) => tool.name === name);
}

/** Whether a pool has a worker that takes jobs and is not among those to avoid. */
export function hasWorkerBesides(pool: Pick<LivePool, 'workers'>, avoid: ReadonlySet<string>): boolean {
  for (const { id, announcement } of pool.workers) if (announcement.accepting && !avoid.has(id)) return true;
  return false;
}
