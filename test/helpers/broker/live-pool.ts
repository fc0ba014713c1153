import type { ModelInfo, ToolInfo } from '#shared/broker/contract/announcement.ts';

import { type LivePool, LiveWorker } from '#shared/broker/dispatch/workers/live-worker.ts';
import type { Tier } from '#shared/core/tier.ts';

/** The announced facts of a worker of a pool. */
export interface WorkerFacts {
  id: string;
  slots?: number | undefined;
  busy?: number | undefined;
  accepting?: boolean | undefined;
  startedAt?: number | undefined;
}

export interface PoolFacts {
  tier: Tier;
  pool: string;
  /** Default: `tools` for the tier of tools, else `chat` and `messages`. */
  formats?: string[];
  models?: ModelInfo[];
  tools?: ToolInfo[];
}

/** Returns a pool as an ingress lists it once its workers have announced themselves. */
export function livePool(facts: PoolFacts, workers: WorkerFacts[]): LivePool {
  const { tier, pool, models = [], tools = [] } = facts;
  const { formats = tier === 'tools' ? ['tools'] : ['chat', 'messages'] } = facts;
  const live: LivePool = {
    key: `${tier}.${pool}`,
    tier,
    pool,
    contract: 1,
    formats,
    models,
    tools,
    workers: new Set(),
    waiting: 0,
  };
  for (const { id: worker, slots = 2, busy = 0, accepting = true, startedAt = 0 } of workers) {
    const announced = { v: 1 as const, worker, tier, pool, formats, models, tools, slots, version: '0' };
    const address = { tier, credentialName: 'open', worker, process: 'p' };
    live.workers.add(new LiveWorker(address, { ...announced, busy, accepting, startedAt }, Buffer.alloc(0), live));
  }
  return live;
}
