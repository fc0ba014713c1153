import { describe, expect, it } from 'vitest';
import type { Tier } from '#shared/core/tier.ts';
import { emptyRegistry, registrySchema } from '#shared/registry/registry.ts';
import { permitsOf } from '#shared/serving/key-permits.ts';
import { resolveModel } from '#shared/serving/resolve-model.ts';
import { tiersFor, type TiersParts } from '#shared/serving/tiers-for.ts';

const everything = permitsOf({ models: undefined, tiers: undefined });

function parts(known: Record<string, Tier[]>, live: Tier[], change: Partial<TiersParts> = {}): TiersParts {
  const workers = {
    tiersOf: (model: string) => new Set(known[model]),
    pools: () => live.map((tier) => ({ tier })),
  };
  return { auto: emptyRegistry.auto, workers, permits: everything, placements: [], ...change };
}

const auto = resolveModel('auto', emptyRegistry);
const named = resolveModel('llama', emptyRegistry);

describe('the tiers that may serve a request', () => {
  it('are those that have served its model, even without a worker now', () => {
    expect(tiersFor(named, parts({ llama: ['gpu'] }, ['cloud']))).toEqual(['gpu']);
  });

  it('are those that the registry names for it, even if no worker has served it', () => {
    const registry = registrySchema.parse({ models: { fast: { targets: [{ model: 'x', tier: 'cloud' }] } } });
    const registered = resolveModel('fast', registry);
    expect(tiersFor(registered, parts({}, []))).toEqual(['cloud']);
  });

  it('are all tiers of models if none is known', () => {
    expect(tiersFor(named, parts({}, ['gpu']))).toEqual(['gpu', 'cli', 'cloud']);
  });

  it('are, for auto, the tiers that can serve it and those without any worker', () => {
    const placements = [{ pool: { tier: 'cloud' as const } }];
    expect(tiersFor(auto, parts({}, ['cloud', 'cli'], { placements })).toSorted()).toEqual(['cloud', 'gpu']);
  });

  it('are only those that the key allows', () => {
    expect(tiersFor(auto, parts({}, [], { permits: permitsOf({ models: undefined, tiers: ['gpu'] }) }))).toEqual([
      'gpu',
    ]);
  });
});
