import { expect, it } from 'vitest';
import type { ModelOperation } from '#shared/core/operation.ts';
import { registrySchema } from '#shared/registry/registry.ts';
import { assertServed } from '#shared/serving/assert-served.ts';
import { resolveModel } from '#shared/serving/resolve-model.ts';
import { livePool } from '../../helpers/broker/live-pool.ts';

const registry = registrySchema.parse({
  models: {
    search: { targets: [{ model: 'gone' }, { model: 'embedder' }] },
    later: { targets: [{ model: 'gone' }] },
    cloudy: { targets: [{ model: 'embedder', tier: 'cloud' }] },
  },
});
const served = (id: string, operations: ModelOperation[] = ['generate']) => ({ id, capabilities: [], operations });
const writer = { id: 'writer', capabilities: [] };
const pools = [
  livePool({ tier: 'gpu', pool: 'p', models: [served('embedder', ['embed']), writer] }, [{ id: 'w' }]),
  livePool({ tier: 'cloud', pool: 'c', models: [served('both', ['generate', 'embed'])] }, [{ id: 'x' }]),
];
const workers = { pools: () => pools, isKnownModel: (id: string) => id === 'was-here' };

it.each<[string, string, 'embed' | 'generate' | 'count_tokens' | 'rank', string | undefined]>([
  ['is served by a model that does it', 'embedder', 'embed', undefined],
  ['is served by a model that does several things', 'both', 'embed', undefined],
  ['is refused for a model that does something else', 'embedder', 'generate', 'invalid_request'],
  ['is refused for tokens of a model that does not generate', 'embedder', 'count_tokens', 'invalid_request'],
  ['is refused for a model without operations that is asked for one', 'writer', 'embed', 'invalid_request'],
  ['is refused for a model that nobody knows', 'nobody', 'embed', 'model_not_found'],
  ['waits for a model that was here', 'was-here', 'embed', undefined],
  ['is served by any target of a registered name', 'search', 'embed', undefined],
  ['is refused for a registered name behind which nothing does it', 'search', 'rank', 'invalid_request'],
  ['waits for the target of a registered name', 'later', 'rank', undefined],
  ['waits for a target of another tier', 'cloudy', 'embed', undefined],
  ['is never refused for auto', 'auto', 'rank', undefined],
])('a request for a name %s', (_, name, operation, code) => {
  const check = () => assertServed(resolveModel(name, registry), name, operation, workers);
  if (code === undefined) expect(check()).toBeUndefined();
  else expect(check).toThrow(expect.objectContaining({ code, param: 'model' }));
});
