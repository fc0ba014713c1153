import { expect, it } from 'vitest';
import type { Capability } from '#shared/broker/contract/announcement.ts';
import type { LivePool } from '#shared/broker/dispatch/workers/live-worker.ts';
import type { Purpose } from '#shared/core/purpose.ts';
import type { Tier } from '#shared/core/tier.ts';
import { registrySchema } from '#shared/registry/registry.ts';
import { chooseLanes } from '#shared/serving/choose-lanes.ts';
import { drawTargetOrder, resolveModel } from '#shared/serving/resolve-model.ts';
import { livePool } from '../../helpers/broker/live-pool.ts';

interface PoolFacts {
  model?: string;
  can?: Capability[];
  context?: number;
  slots?: number;
  busy?: number;
  accepting?: boolean;
  formats?: string[];
  workers?: string[];
  lacks?: string[];
}

function pool(tier: Tier, name: string, facts: PoolFacts = {}): LivePool {
  const { model = name, can = ['stream'], context, slots, busy, accepting, formats, workers = [`${name}-1`] } = facts;
  const models = [{ id: model, capabilities: can, contextWindow: context, lacks: facts.lacks }];
  return livePool(
    { tier, pool: name, models, ...(formats && { formats }) },
    workers.map((id) => ({ id, slots, busy, accepting })),
  );
}

const noNeeds = { tools: false, vision: false, thinking: false, json: false, inputTokens: 10 };

function lanes(
  model: string,
  pools: LivePool[],
  needs: object = {},
  file: object = {},
  avoid: string[] = [],
  purpose?: Purpose,
): string[] {
  const registry = registrySchema.parse(file);
  const parameters = {
    format: 'chat',
    operation: 'generate' as const,
    model: resolveModel(model, registry, { purpose, agentType: undefined }, () => 0),
    needs: { ...noNeeds, ...needs },
  };
  const priceOf = (_: Tier, id: string) => registry.prices[id];
  const choice = { ...parameters, auto: registry.auto, priceOf, permits: () => true };
  const chosen = chooseLanes(choice, pools, new Set(avoid));
  return chosen.map(({ pool: { pool: name }, model: id }) => (name === id ? name : `${name}:${id}`));
}

it('prices are read only if the registry limits them', () => {
  const asked: string[] = [];
  const choose = (file: object) => {
    const registry = registrySchema.parse(file);
    const rules = { auto: registry.auto, priceOf: (_: Tier, id: string) => void asked.push(id), permits: () => true };
    const asks = { format: 'chat', operation: 'generate' as const, needs: noNeeds };
    const choice = { ...asks, ...rules, model: resolveModel('auto', registry) };
    return chooseLanes(choice, [pool('gpu', 'gpu')], new Set());
  };
  expect(choose({})).toHaveLength(1);
  expect(asked).toEqual([]);
  expect(choose({ auto: { max_cost: 1 } })).toHaveLength(1);
  expect(asked).toEqual(['gpu']);
});

const all: Capability[] = ['stream', 'tools', 'vision', 'thinking', 'json'];
const gpu = pool('gpu', 'gpu', { can: ['stream', 'tools'] });
const cli = pool('cli', 'cli', { can: ['stream', 'thinking'] });
const cloud = pool('cloud', 'cloud', { can: all });

it.each<[string, object, LivePool[], string[]]>([
  ['goes to GPU, then CLI, then cloud', {}, [cloud, cli, gpu], ['gpu', 'cli', 'cloud']],
  ['does not skip models without thinking', { thinking: true }, [gpu, cli], ['gpu', 'cli']],
  [
    'with web search goes to models whose upstream searches',
    { hosted: ['web_search'] },
    [gpu, cli, cloud, pool('cloud', 'native', { can: [...all, 'web_search@chat'] })],
    ['native'],
  ],
  [
    'with web search passes over upstreams that search for other formats',
    { hosted: ['web_search'] },
    [pool('cloud', 'other', { can: [...all, 'web_search@messages'] })],
    [],
  ],
  ['with web search finds no lane if no upstream searches', { hosted: ['web_search'] }, [gpu, cli, cloud], []],
  [
    'with a part that not all take goes to those that take it in its format',
    { features: ['pdf'] },
    [
      pool('gpu', 'none', { lacks: ['pdf@chat'] }),
      pool('cli', 'other', { lacks: ['pdf@messages', 'logprobs@chat'] }),
      cloud,
    ],
    ['other', 'cloud'],
  ],
  [
    'with a part that nobody takes goes to those that refuse it in words',
    { features: ['pdf'] },
    [pool('gpu', 'none', { lacks: ['pdf@chat'] })],
    ['none'],
  ],
  [
    'within a tier prefers thinking if requested, then free slots',
    { thinking: true },
    [pool('gpu', 'busy', { busy: 2 }), pool('gpu', 'free'), pool('gpu', 'thinks', { can: all, busy: 2 })],
    ['thinks', 'free', 'busy'],
  ],
  [
    'skips a context that is certainly too small',
    { inputTokens: 10_000 },
    [pool('gpu', 'small', { context: 4_096 }), pool('gpu', 'tight', { context: 9_000 }), cloud],
    ['tight', 'cloud'],
  ],
])('auto %s', (_, needs, pools, expected) => {
  expect(lanes('auto', pools, needs)).toEqual(expected);
});

it('auto goes to the largest context if the input is too long for all, and that worker refuses it', () => {
  const pools = [pool('gpu', 'small', { context: 4_096 }), pool('cloud', 'large', { context: 8_192 })];
  expect(lanes('auto', pools, { inputTokens: 100_000 })).toEqual(['large']);
});

it('auto follows the rules of the registry', () => {
  const prices = { cloud: { input: 3, output: 15 } };
  const by = (auto: object) => lanes('auto', [gpu, cli, cloud], {}, { prices, auto });
  expect(by({ tiers: ['cloud', 'gpu'] })).toEqual(['cloud', 'gpu']);
  expect(by({ only: ['cli'] })).toEqual(['cli']);
  expect(by({ except: ['gpu'] })).toEqual(['cli', 'cloud']);
  expect(by({ max_cost: 10 })).toEqual(['gpu', 'cli']);
  expect(by({ max_cost: 15 })).toEqual(['gpu', 'cli', 'cloud']);
});

it('auto treats avoided workers as absent', () => {
  const two = pool('gpu', 'two', { workers: ['a', 'b'] });
  expect(lanes('auto', [two, cloud], {}, {}, ['a'])).toEqual(['two', 'cloud']);
  expect(lanes('auto', [two, cloud], {}, {}, ['a', 'b'])).toEqual(['cloud']);
});

it('a named model goes to all pools that serve it, GPU first', () => {
  const pools = [pool('cloud', 'far', { model: 'm' }), pool('gpu', 'near', { model: 'm' }), pool('gpu', 'other')];
  expect(lanes('m', pools)).toEqual(['near:m', 'far:m']);
});

it('a named model prefers an able worker, and otherwise goes to one that is not able', () => {
  const blind = pool('gpu', 'blind', { model: 'm' });
  const sees = pool('cloud', 'sees', { model: 'm', can: ['vision'] });
  expect(lanes('m', [blind, sees], { vision: true })).toEqual(['sees:m']);
  expect(lanes('m', [blind], { vision: true })).toEqual(['blind:m']);
});

it('a named model is never a property of Object.prototype', () => {
  for (const name of ['__proto__', 'constructor']) expect(lanes(name, [pool('gpu', 'x')])).toEqual([]);
});

const pools = [
  pool('gpu', 'local', { model: 'small' }),
  pool('cloud', 'api', { model: 'big' }),
  pool('cloud', 'api2', { model: 'small' }),
];

it('a name of the registry goes to its targets in order', () => {
  const file = { models: { best: { targets: [{ model: 'big' }, { model: 'small', tier: 'gpu' }] } } };
  expect(lanes('best', pools, {}, file)).toEqual(['api:big', 'local:small']);
  const models = ['big', 'small'].map((id) => ({ id, capabilities: [] }));
  const both = livePool({ tier: 'gpu', pool: 'both', models }, [{ id: 'w' }]);
  expect(lanes('best', [both], {}, file)).toEqual(['both:big']);
});

it('a name of the registry draws among weighted neighbours in proportion to their weight', () => {
  const targets = [{ model: 'a', weight: 3 }, { model: 'b', weight: 1 }, { model: 'c' }];
  const firsts = Array.from({ length: 100 }, (_, i) =>
    drawTargetOrder(targets, () => i / 100).map(({ model }) => model),
  );
  expect(firsts.filter(([first]) => first === 'a')).toHaveLength(75);
  expect(firsts.filter(([first]) => first === 'b')).toHaveLength(25);
  expect(firsts.every((order) => order[2] === 'c')).toBe(true);
});

it('a rule of auto by purpose comes first if one of its targets is able', () => {
  const local = pool('gpu', 'local', { model: 'small' });
  const blind = pool('gpu', 'blind', { model: 'tiny' });
  const api = pool('cloud', 'api', { model: 'big', can: ['stream', 'vision'] });
  const purposes = { auxiliary: { targets: [{ model: 'small', tier: 'gpu' }] } };
  const file = { auto: { tiers: ['cloud', 'gpu'], except: ['small'], purposes } };
  const of = (purpose: Purpose, needs: object = {}, served = [local, blind, api]) =>
    lanes('auto', served, needs, file, [], purpose);
  expect(of('auxiliary')).toEqual(['local:small']);
  expect(of('main')).toEqual(['api:big', 'blind:tiny']);
  expect(of('auxiliary', { vision: true })).toEqual(['api:big']);
  expect(of('auxiliary', {}, [api, blind])).toEqual(['api:big', 'blind:tiny']);
});
