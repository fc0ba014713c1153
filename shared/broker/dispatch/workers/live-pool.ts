import type { LivePool } from './live-worker.ts';

/** A pool that can serve a job now, and the model that would serve it. */
export interface Placement {
  pool: LivePool;
  model: string;
  /** Milliseconds for which a job waits for this tier before it may go to the next tier, even if that tier is free. */
  maxWaitMs?: number | undefined;
  /** Placements of one request with the same group are equally good. */
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
 * Returns the number of a pool's free slots minus the number of this dispatcher's waiting tickets. The result is negative if more tickets
 * wait than slots are free. Leaves out workers that are ejected with the model or, without a model, with any model.
 */
export function countFreeSlots(pool: LivePool, model?: string): number {
  let freeSlots = -pool.waiting;
  for (const worker of pool.workers) if (worker.isHealthy(model)) freeSlots += Math.max(0, worker.freeSlots);
  return freeSlots;
}

/** Whether a pool has a model or tool with this name. */
export function servesName({ models, tools }: Pick<LivePool, 'models' | 'tools'>, name: string): boolean {
  return models.some(({ id }) => id === name) || tools.some((tool) => tool.name === name);
}

/** Whether a pool has a worker that takes jobs and is not to be avoided. */
export function hasWorkerBesides(pool: Pick<LivePool, 'workers'>, avoid: ReadonlySet<string>): boolean {
  for (const { id, announcement } of pool.workers) if (announcement.accepting && !avoid.has(id)) return true;
  return false;
}
