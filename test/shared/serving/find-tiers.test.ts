import { expect, it } from 'vitest';
import type { Tier } from '#shared/core/tier.ts';
import { emptyRegistry, registrySchema } from '#shared/registry/registry.ts';
import { readKeyPermits } from '#shared/serving/key-permits.ts';
import { resolveModel } from '#shared/serving/resolve-model.ts';
import { findTiers, type TiersParts } from '#shared/serving/find-tiers.ts';

const everything = readKeyPermits({ models: undefined, tiers: undefined });

function parts(known: Record<string, Tier[]>, live: Tier[], change: Partial<TiersParts> = {}): TiersParts {
  const pools = () => live.map((tier) => ({ tier }));
  const workers = { findTiers: (model: string) => new Set(known[model]), pools };
  return { auto: emptyRegistry.auto, workers, permits: everything, placements: [], ...change };
}

const auto = resolveModel('auto', emptyRegistry);
const named = resolveModel('llama', emptyRegistry);

it('the tiers that may serve a request are those that have served its model, even without a worker now', () => {
  expect(findTiers(named, parts({ llama: ['gpu'] }, ['cloud']))).toEqual(['gpu']);
});

it('the tiers that may serve a request are those that the registry names for it, even if no worker has served it', () => {
  const registry = registrySchema.parse({ models: { fast: { targets: [{ model: 'x', tier: 'cloud' }] } } });
  expect(findTiers(resolveModel('fast', registry), parts({}, []))).toEqual(['cloud']);
});

it('the tiers that may serve a request are all tiers of models if none is known', () => {
  expect(findTiers(named, parts({}, ['gpu']))).toEqual(['gpu', 'cli', 'cloud']);
});

it('the tiers that may serve a request are, for auto, the tiers that can serve it and those without any worker', () => {
  const placements = [{ pool: { tier: 'cloud' as const } }];
  expect(findTiers(auto, parts({}, ['cloud', 'cli'], { placements })).toSorted()).toEqual(['cloud', 'gpu']);
});

it('the tiers that may serve a request are only those that the key allows', () => {
  const permits = readKeyPermits({ models: undefined, tiers: ['gpu'] });
  expect(findTiers(auto, parts({}, [], { permits }))).toEqual(['gpu']);
});
