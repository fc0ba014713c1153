import type { Announcement, ModelInfo, ToolInfo } from '../../contract/announcement.ts';
import type { Tier } from '#shared/core/tier.ts';
import type { WorkerAddress } from '../../contract/worker-address.ts';
import type { ProofOfLife } from './proof-of-life.ts';
import type { WorkerHealth } from './worker-health.ts';

export interface LiveWorker {
  /** Its name in the whole cluster, see `formatWorkerId`. */
  id: string;
  /** The worker's number for affinity, see `rendezvousPoint`. */
  affinityPoint: number;
  /** Its address, which the broker has checked, so that no worker can act for another one. */
  address: WorkerAddress;
  announcement: Announcement;
  pool: LivePool;
  /** The announcement's bytes. An identical announcement need not be parsed. */
  raw: Buffer;
  /** Slots in use when it was announced; `announcement.busy` is as of the last heartbeat. */
  announcedBusy: number;
  /**
   * When this dispatcher first saw the worker, or saw it again after a loss; the start of the dispatcher for workers that were there
   * before.
   */
  joinedAt: number;
  /** When its last heartbeat came, or its silence was reset. */
  lastHeartbeatAt: number;
  proofOfLife: ProofOfLife;
  /** When the last frame of a job came from it. A worker that sends frames is alive. */
  lastFrameAt: number;
  /** Jobs that this dispatcher has granted or offered to the worker and that have not ended. */
  held: number;
  /** Its jobs of other dispatchers, as of its last heartbeat. */
  otherJobs: number;
  /**
   * Whether it gets no offers until its next heartbeat, because it has refused an offer since the last heartbeat, or the next heartbeat is
   * late.
   */
  hasRefused: boolean;
  /** The record of its jobs' outcomes: the models with which it is ejected, and its times to the first token. */
  health: WorkerHealth;
}

/** A group of interchangeable workers: the unit from which a request's lanes are chosen. */
export interface LivePool {
  /** Identifies the pool in this process, see `LivePools.keyFor`. */
  key: string;
  tier: Tier;
  /** The token of its lanes. Another pool whose workers claim the same token has the same lanes. */
  pool: string;
  /** The version of the contract that is spoken with its workers; undefined if they and this dispatcher share none. */
  contract: number | undefined;
  formats: readonly string[];
  models: readonly ModelInfo[];
  tools: readonly ToolInfo[];
  workers: Set<LiveWorker>;
  /** Tickets of this dispatcher that wait in the pool's lanes. */
  waiting: number;
}

export interface Placement {
  pool: LivePool;
  model: string;
  /** Milliseconds that a job waits for this tier before it may go to the next one, even if that one is free. */
  maxWaitMs?: number | undefined;
  /** Placements of one request with the same group are equally good. */
  group?: number | undefined;
  /** The name of the rule that chose it; undefined if the request alone did. */
  rule?: string | undefined;
}

/** How a worker was lost: it sent `goodbye`, another process has replaced it, or no heartbeats came. */
export type Loss = 'left' | 'replaced' | 'silent';

export const lossTexts: Record<Loss, string> = {
  left: 'worker left',
  replaced: 'worker was restarted',
  silent: 'worker is lost',
};

export const noWorkers: ReadonlySet<string> = new Set();

/**
 * Counts the free slots of a pool minus this dispatcher's waiting tickets. Leaves out workers that are ejected with the model, or with
 * any model if none is named. Negative if requests wait.
 */
export function countFreeSlots(pool: LivePool, model?: string): number {
  let free = -pool.waiting;
  for (const { announcement, held, otherJobs: others, health } of pool.workers) {
    if (announcement.accepting && !health.isEjected(model)) free += Math.max(0, announcement.slots - others - held);
  }
  return free;
}

/** Counts the jobs that a worker announces as running, minus those of this dispatcher. */
export function countOtherJobs({ announcement, held }: LiveWorker): number {
  return Math.max(0, announcement.busy - held);
}

/**
 * Whether the choice for a model leaves a worker out. That is so if it is ejected, no probe is due, and its pool has another worker that
 * takes jobs. An ejected worker is better than none.
 */
export function isLeftOut({ health, pool }: LiveWorker, model: string, now = performance.now()): boolean {
  if (health.mayTake(model, now)) return false;
  for (const peer of pool.workers) if (peer.announcement.accepting && !peer.health.isEjected(model)) return true;
  return false;
}

export function serves({ models, tools }: Pick<LivePool, 'models' | 'tools'>, name: string): boolean {
  return models.some(({ id }) => id === name) || tools.some((tool) => tool.name === name);
}

export function isServing(pool: Pick<LivePool, 'workers'>, avoid: ReadonlySet<string>): boolean {
  for (const { id, announcement } of pool.workers) if (announcement.accepting && !avoid.has(id)) return true;
  return false;
}
