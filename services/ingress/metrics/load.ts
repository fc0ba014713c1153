import type { LiveWorker } from '#shared/broker/dispatch/workers/live-pool.ts';
import type { IngressStats } from '#shared/broker/contract/ingress-stats.ts';
import { tiers, type Tier } from '#shared/core/tier.ts';

export interface TierLoad {
  /** Waiting requests that this tier may serve, whether or not it has workers. */
  waiting: number;
  busy: number;
  /** Jobs that its workers can serve at once, without draining workers. */
  slots: number;
  /** Live workers, without draining ones. */
  workers: number;
}

/**
 * Returns the body of `GET /load`, for autoscalers: the load of every tier of the cluster, the same from every ingress.
 * @returns undefined before the first ingress stats arrive, this node's own included: missing stats do not mean an empty queue
 */
export function computeLoad(
  stats: readonly Pick<IngressStats, 'lanes' | 'waitingByTier'>[],
  workers: Iterable<Pick<LiveWorker, 'announcement' | 'held' | 'otherJobs'>>,
): { tiers: Record<Tier, TierLoad> } | undefined {
  if (stats.length === 0) return undefined;
  const emptyLoad = (): TierLoad => ({ waiting: 0, busy: 0, slots: 0, workers: 0 });
  const load = Object.fromEntries(tiers.map((tier) => [tier, emptyLoad()])) as Record<Tier, TierLoad>;
  for (const { waitingByTier, lanes } of stats) {
    if (waitingByTier) for (const tier of tiers) load[tier].waiting += waitingByTier[tier] ?? 0;
    else for (const { tier, waiting } of lanes) load[tier].waiting += waiting;
  }
  for (const { announcement, held, otherJobs: others } of workers) {
    const { tier, slots, draining } = announcement;
    load[tier].busy += held + others;
    if (draining) continue;
    load[tier].slots += slots;
    load[tier].workers += 1;
  }
  return { tiers: load };
}
