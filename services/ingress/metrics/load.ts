import type { LiveWorker } from '#shared/broker/dispatch/workers/live-pool.ts';
import type { IngressStats } from '#shared/broker/contract/ingress-stats.ts';
import { tiers, type Tier } from '#shared/core/tier.ts';

/** The load of one tier in the whole cluster. */
export interface TierLoad {
  /** Requests that no worker has taken yet and that this tier may serve, with workers or without. */
  waiting: number;
  /** Requests in work on it. */
  busy: number;
  /** Requests that its workers serve at once, leaving ones not counted. */
  slots: number;
  /** Live workers, leaving ones not counted. */
  workers: number;
}

/**
 * What /load says: the load of every tier, whichever ingress is asked, for autoscalers.
 * @returns undefined while no ingress is heard of, not even this one: no news is not an empty queue
 */
export function loadOf(
  stats: readonly Pick<IngressStats, 'lanes' | 'waitingByTier'>[],
  workers: Iterable<Pick<LiveWorker, 'announcement' | 'held' | 'others'>>,
): { tiers: Record<Tier, TierLoad> } | undefined {
  if (stats.length === 0) return undefined;
  const nothing = (): TierLoad => ({ waiting: 0, busy: 0, slots: 0, workers: 0 });
  const load = Object.fromEntries(tiers.map((tier) => [tier, nothing()])) as Record<Tier, TierLoad>;
  for (const { waitingByTier, lanes } of stats) {
    if (waitingByTier) for (const tier of tiers) load[tier].waiting += waitingByTier[tier] ?? 0;
    else for (const { tier, waiting } of lanes) load[tier].waiting += waiting;
  }
  for (const { announcement, held, others } of workers) {
    const { tier, slots, draining } = announcement;
    load[tier].busy += held + others;
    if (draining) continue;
    load[tier].slots += slots;
    load[tier].workers += 1;
  }
  return { tiers: load };
}
