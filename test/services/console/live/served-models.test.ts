import { describe, expect, it } from 'vitest';
import type { LivePool } from '#shared/broker/dispatch/workers/live-worker.ts';
import { registrySchema } from '#shared/registry/registry.ts';
import { readKeyPermits } from '#shared/serving/key-permits.ts';
import { listServedModels, markNotPermitted } from '#services/console/live/served-models.ts';

function pool(tier: LivePool['tier'], workers: number, ...models: LivePool['models'][number][]): LivePool {
  const some = Array.from({ length: workers }, () => ({}));
  return { tier, pool: 'p', models, tools: [], workers: new Set(some), waiting: 0 } as unknown as LivePool;
}

const small = { id: 'small', capabilities: ['stream' as const], contextWindow: 8_192 };
const sizes = { contextWindow: 32_768, maxOutput: 100 };
const large = { id: 'large', capabilities: ['vision' as const, 'stream' as const], ...sizes };

const onGpu = { tier: 'gpu', workers: 2, models: ['small'] };
const onCloud = { tier: 'cloud', workers: 1, models: ['small'] };

describe('the listed models', () => {
  it("are auto, the registry's names, then all models, each with who serves it", () => {
    const registry = registrySchema.parse({ models: { fast: { targets: [{ model: 'small', tier: 'gpu' }] } } });
    const shown = listServedModels([pool('gpu', 2, small), pool('cloud', 1, large, small)], registry);
    const kinds = shown.map(({ id, kind }) => `${kind} ${id}`);
    expect(kinds).toEqual(['auto auto', 'registered fast', 'model large', 'model small']);
    expect(shown[0]).toMatchObject({ capabilities: ['stream', 'vision'], ...sizes });
    expect(shown[1]?.servedBy).toEqual([onGpu]);
    expect(shown[3]?.servedBy).toEqual([onGpu, onCloud]);
  });

  it('are marked where a ceiling does not permit them', () => {
    const registry = registrySchema.parse({ models: { fast: { targets: [{ model: 'small' }] } } });
    const shown = listServedModels([pool('gpu', 2, small), pool('cloud', 1, large)], registry);
    const refused = (ceiling: Parameters<typeof readKeyPermits>[0]): string[] =>
      markNotPermitted(shown, readKeyPermits(ceiling)).flatMap(({ id, notPermitted }) => (notPermitted ? [id] : []));
    expect(refused({ models: undefined, tiers: undefined })).toEqual([]);
    expect(refused({ models: ['fast'], tiers: undefined })).toEqual(['auto', 'large', 'small']);
    expect(refused({ models: ['large'], tiers: undefined })).toEqual(['fast', 'small']);
    expect(refused({ models: undefined, tiers: ['gpu'] })).toEqual(['large']);
  });

  it('leave out names that no worker serves, and exclude from auto the models that it must not use', () => {
    const gone = { targets: [{ model: 'nothing' }] };
    const registry = registrySchema.parse({ models: { gone }, auto: { tiers: ['gpu'], except: ['small'] } });
    const shown = listServedModels([pool('gpu', 1, small), pool('cloud', 1, large)], registry);
    expect(shown.map(({ id }) => id)).toEqual(['large', 'small']);
    expect(listServedModels([], registry)).toEqual([]);
  });

  it('have a price and a speed by tier, and name the models of paid tiers without a price', () => {
    const registry = registrySchema.parse({ models: { fast: { targets: [{ model: 'small' }, { model: 'large' }] } } });
    const speed = { firstTokenMs: 20, tokensPerSecond: 80, answers: 3 };
    const fast = { ...onGpu, speed };
    const price = { input: 1, output: 2, cachedInput: 0.5 };
    const known = {
      priceOf: (tier: string, model: string) => (tier === 'cloud' && model === 'large' ? price : undefined),
      speedOf: (tier: string, model: string) => (tier === 'gpu' && model === 'small' ? speed : undefined),
    };
    const pools = [pool('gpu', 2, small), pool('cloud', 1, large, small)];
    const shown = Object.fromEntries(
      listServedModels(pools, registry, known).map((model) => [model.id, model.servedBy]),
    );
    expect(shown['small']).toEqual([fast, { ...onCloud, unpriced: ['small'] }]);
    expect(shown['large']).toEqual([{ ...onCloud, models: ['large'], price: { input: 1, output: 2 } }]);
    expect(shown['fast']).toEqual([fast, { ...onCloud, models: ['large', 'small'], unpriced: ['small'] }]);
  });
});
