import type { Placement } from '#shared/broker/dispatch/workers/live-pool.ts';
import type { LivePool } from '#shared/broker/dispatch/workers/live-worker.ts';
import { modelTiers, type Tier } from '#shared/core/tier.ts';
import type { Registry } from '#shared/registry/registry.ts';
import type { KeyPermits } from './key-permits.ts';
import type { ResolvedModel } from './resolve-model.ts';

export interface TiersParts {
  auto: Registry['auto'];
  workers: { findTiers(model: string): ReadonlySet<Tier>; pools(): Iterable<Pick<LivePool, 'tier'>> };
  permits: Pick<KeyPermits, 'allowsLane'>;
  placements: readonly { pool: Pick<Placement['pool'], 'tier'> }[];
}

/**
 * Returns the tiers that may serve a request, including tiers without a worker, for which an autoscaler may start one.
 *
 * - `auto`: the tiers that can serve the request now, and the tiers of `auto` without a worker, because their models are unknown.
 * - A model: the tiers that serve or have served the model, or that the registry names for the model. If no such tier is known, all model
 *   tiers.
 */
export function findTiers(model: ResolvedModel, { auto, workers, permits, placements }: TiersParts): Tier[] {
  const tiers = new Set(placements.map(({ pool }) => pool.tier));
  if (model.kind === 'auto') {
    const populated = new Set(Array.from(workers.pools(), ({ tier }) => tier));
    for (const tier of auto.tiers) if (!populated.has(tier)) tiers.add(tier);
  } else {
    for (const target of model.targets) {
      const knownTiers = workers.findTiers(target.model);
      for (const tier of target.tier === undefined ? knownTiers : [target.tier]) tiers.add(tier);
    }
    if (tiers.size === 0) for (const tier of modelTiers) tiers.add(tier);
  }
  return [...tiers].filter((tier) => permits.allowsLane(tier));
}
