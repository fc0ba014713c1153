import { describe, expect, it } from 'vitest';
import type { Tier } from '#shared/core/tier.ts';
import { emptyRegistry } from '#shared/registry/registry.ts';
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

const auto = resolveModel('auto', {});
const named = resolveModel('llama', {});

describe('the tiers that may serve a request', () => {
  it('are those that served its model, when their last worker is gone', () => {
    expect(tiersFor(named, parts({ llama: ['gpu'] }, ['cloud']))).toEqual(['gpu']);
  });

  it('are those that the registry names for it, though nobody ever served it', () => {
    const registered = resolveModel('fast', { fast: { targets: [{ model: 'x', tier: 'cloud' }], defaults: {} } });
    expect(tiersFor(registered, parts({}, []))).toEqual(['cloud']);
  });

  it('are all tiers of models when nothing is known of it', () => {
    expect(tiersFor(named, parts({}, ['gpu']))).toEqual(['gpu', 'cli', 'cloud']);
  });

  it('are, for auto, where it can be served and the tiers without any worker', () => {
    const placements = [{ pool: { tier: 'cloud' as const } }];
    expect(tiersFor(auto, parts({}, ['cloud', 'cli'], { placements })).toSorted()).toEqual(['cloud', 'gpu']);
  });

  it('are never one that the key does not allow', () => {
    expect(tiersFor(auto, parts({}, [], { permits: permitsOf({ models: undefined, tiers: ['gpu'] }) }))).toEqual([
      'gpu',
    ]);
  });
});
