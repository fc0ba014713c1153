import type { LivePool } from '#shared/broker/dispatch/workers/live-pool.ts';

/** Whether a pool has a worker that takes jobs, besides those to be avoided. */
export function isServing(pool: LivePool, avoid: ReadonlySet<string>): boolean {
  for (const { id, announcement } of pool.workers) if (announcement.accepting && !avoid.has(id)) return true;
  return false;
}
