import type { LivePool, Placement } from '#shared/broker/dispatch/workers/live-pool.ts';
import { modelTiers, type Tier } from '#shared/core/tier.ts';
import type { Registry } from '#shared/registry/registry.ts';
import type { KeyPermits } from './key-permits.ts';
import type { ResolvedModel } from './resolve-model.ts';

export interface TiersParts {
  auto: Registry['auto'];
  workers: { tiersOf(model: string): ReadonlySet<Tier>; pools(): Iterable<Pick<LivePool, 'tier'>> };
  permits: Pick<KeyPermits, 'allowsLane'>;
  /** The pools that can serve it right now. */
  placements: readonly { pool: Pick<Placement['pool'], 'tier'> }[];
}

/**
 * The tiers that may serve a request, those too that have no worker right now: what an autoscaler is to start one of.
 *
 * `auto`: where it can be served, and each of its tiers that has no worker at all, whose models nobody knows. A model: the
 * tiers that serve it or have served it, or that the registry names for it; nothing known of it, every tier of models.
 */
export function tiersFor(model: ResolvedModel, { auto, workers, permits, placements }: TiersParts): Tier[] {
  const tiers = new Set(placements.map(({ pool }) => pool.tier));
  if (model.kind === 'auto') {
    const manned = new Set(Array.from(workers.pools(), ({ tier }) => tier));
    for (const tier of auto.tiers) if (!manned.has(tier)) tiers.add(tier);
  } else {
    for (const target of model.targets) {
      const known = workers.tiersOf(target.model);
      for (const tier of target.tier === undefined ? known : [target.tier]) tiers.add(tier);
    }
    if (tiers.size === 0) for (const tier of modelTiers) tiers.add(tier);
  }
  return [...tiers].filter((tier) => permits.allowsLane(tier));
}
