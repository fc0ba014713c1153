import type { LiveWorker } from '#shared/broker/dispatch/workers/live-worker.ts';
import type { IngressStats } from '#shared/broker/contract/ingress-stats.ts';
import { tiers, type Tier } from '#shared/core/tier.ts';

export interface TierLoad {
  /** Number of waiting requests that this tier may serve, whether or not it has workers. */
  waiting: number;
  busy: number;
  /** Number of jobs that the workers of the tier can serve at once. Draining workers are not counted. */
  slots: number;
  /** Number of live workers. Draining workers are not counted. */
  workers: number;
}

/**
 * Returns the body of `GET /load`, for autoscalers: the load of every tier of the cluster. Every ingress returns the same.
 * @returns undefined until the first ingress stats of any node have arrived, because missing stats do not mean an empty queue
 */
export function computeLoad(
  stats: readonly Pick<IngressStats, 'waitingByTier'>[],
  workers: Iterable<Pick<LiveWorker, 'announcement' | 'ownJobs' | 'otherJobs'>>,
): { tiers: Record<Tier, TierLoad> } | undefined {
  if (stats.length === 0) return undefined;
  const emptyLoad = (): TierLoad => ({ waiting: 0, busy: 0, slots: 0, workers: 0 });
  const load = Object.fromEntries(tiers.map((tier) => [tier, emptyLoad()])) as Record<Tier, TierLoad>;
  for (const { waitingByTier } of stats) for (const tier of tiers) load[tier].waiting += waitingByTier[tier] ?? 0;
  for (const { announcement, ownJobs, otherJobs: others } of workers) {
    const { tier, slots, draining } = announcement;
    load[tier].busy += ownJobs + others;
    if (draining) continue;
    load[tier].slots += slots;
    load[tier].workers += 1;
  }
  return { tiers: load };
}
