import type { Logger } from '#shared/core/log.ts';
import type { ContractRange } from '../../contract/contract-range.ts';
import type { LiveWorker } from './live-pool.ts';

/**
 * Logs that a worker joined, and whether it gets no jobs because of its release.
 * @param own the versions of the contract that this dispatcher speaks
 */
export function logJoined(log: Logger, { id: worker, announcement, pool }: LiveWorker, own: ContractRange): void {
  const { tier, models, tools, slots, v: newest, oldest = newest, version } = announcement;
  log.info({ worker, tier, pool: pool.pool, models: models.length, tools: tools.length, slots }, 'worker joined');
  if (pool.contract !== undefined) return;
  const contract = { own, worker: { oldest, newest } };
  log.error({ worker, version, contract }, 'worker gets no jobs: its release and this one are too far apart');
}
