import { setTimeout as sleep } from 'node:timers/promises';
import { hasWorkerBesides, noWorkers } from '#shared/broker/dispatch/workers/live-pool.ts';
import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import { RouterError } from '#shared/core/errors.ts';

const checkEveryMs = 50;

export interface WaitForToolsParts {
  workers: Pick<LiveWorkers, 'pools' | 'findLostPools'>;
  /** Milliseconds that a request waits while no worker can serve it. */
  noWorkerMs: number;
}

/**
 * Waits for a worker with tools if such workers were lost less than a minute ago. A list without their tools would be wrong, and clients
 * keep the list. Resolves when a worker of the tools tier takes calls, when the minute is over, or when the caller has left.
 * @throws RouterError `no_worker_available` after `noWorkerMs`
 */
export async function waitForTools(
  { workers, noWorkerMs }: WaitForToolsParts,
  caller: { isGone(): boolean },
): Promise<void> {
  for (
    const endsAt = performance.now() + noWorkerMs;
    areToolsLost(workers) && !caller.isGone();
    await sleep(checkEveryMs)
  ) {
    if (performance.now() < endsAt) continue;
    const message = 'No worker that has the tools is connected.';
    throw new RouterError('no_worker_available', message, { retryAfter: 10 });
  }
}

function areToolsLost(workers: WaitForToolsParts['workers']): boolean {
  if (!workers.findLostPools().some(({ tools }) => tools.length > 0)) return false;
  for (const pool of workers.pools()) if (pool.tier === 'tools' && hasWorkerBesides(pool, noWorkers)) return false;
  return true;
}
