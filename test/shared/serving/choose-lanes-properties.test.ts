import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Capability } from '#shared/broker/contract/announcement.ts';
import { hasWorkerBesides, noWorkers, type Placement } from '#shared/broker/dispatch/workers/live-pool.ts';
import type { LivePool } from '#shared/broker/dispatch/workers/live-worker.ts';
import { canDo, type ModelOperation } from '#shared/core/operation.ts';
import { modelTiers, type Tier } from '#shared/core/tier.ts';
import type { Needs } from '#shared/formats/client-format.ts';
import { registrySchema } from '#shared/registry/registry.ts';
import { chooseLanes } from '#shared/serving/choose-lanes.ts';
import { readKeyPermits } from '#shared/serving/key-permits.ts';
import { resolveModel } from '#shared/serving/resolve-model.ts';
import { livePool } from '../../helpers/broker/live-pool.ts';

const ids = ['a', 'b', 'c'] as const;
const formats = ['chat', 'messages'] as const;
const needed = ['tools', 'vision', 'json'] as const satisfies readonly (Capability & keyof Needs)[];

const servedModels = fc.uniqueArray(
  fc.record({
    id: fc.constantFrom(...ids),
    capabilities: fc.subarray<Capability>(['stream', 'thinking', ...needed]),
    contextWindow: fc.constantFrom(undefined, 1_000, 8_000, 100_000),
    operations: fc.option(fc.constantFrom<ModelOperation[]>(['embed'], ['generate', 'embed']), { nil: undefined }),
  }),
  { selector: ({ id }) => id, minLength: 1 },
);
const pools = fc.array(
  fc.record({
    tier: fc.constantFrom<Tier>(...modelTiers, ...modelTiers, 'tools'),
    formats: fc.subarray<string>([...formats], { minLength: 1 }),
    models: servedModels,
    accepting: fc.constantFrom(true, true, true, false),
    busy: fc.nat(3),
  }),
  { minLength: 1, maxLength: 5 },
);
const target = fc.record(
  { model: fc.constantFrom(...ids), tier: fc.constantFrom(...modelTiers) },
  { requiredKeys: ['model'] },
);
const targets = fc.array(target, { minLength: 1, maxLength: 3 });
const purposes = fc.record({ auxiliary: fc.record({ targets }) });
const registry = fc.record({
  models: fc.record({ coder: fc.record({ targets, purposes }) }),
  auto: fc.record({
    tiers: fc.shuffledSubarray([...modelTiers], { minLength: 1 }),
    except: fc.subarray([...ids]),
    purposes,
  }),
});
const request = fc.record({
  name: fc.constantFrom('auto', 'auto', 'coder', 'coder', 'a'),
  format: fc.constantFrom(...formats),
  operation: fc.constantFrom('generate' as const, 'generate' as const, 'count_tokens' as const, 'embed' as const),
  purpose: fc.constantFrom(undefined, 'auxiliary' as const),
  needs: fc.record({
    tools: fc.boolean(),
    vision: fc.boolean(),
    json: fc.boolean(),
    thinking: fc.boolean(),
    inputTokens: fc.constantFrom(10, 5_000, 200_000),
  }),
  /** The key's list of models. */
  listed: fc.constantFrom(undefined, undefined, ['auto'], ['a', 'coder'], ['b', 'c', 'coder']),
});
const cases = fc.tuple(pools, registry, request);
type Case = typeof cases extends fc.Arbitrary<infer Value> ? Value : never;

/** Chooses the lanes of a case, and computes independently every pool and model that the request may go to. */
function choose([facts, file, { name, format, operation, purpose, needs, listed }]: Case) {
  const live = facts.map(({ accepting, busy, ...pool }, at) =>
    livePool({ ...pool, pool: `p${at}` }, [{ id: `w${at}`, accepting, busy }]),
  );
  const { models, auto } = registrySchema.parse(file);
  const model = resolveModel(name, { models, auto }, { purpose, agentType: undefined });
  const { allowsLane: permits } = readKeyPermits({ models: listed, tiers: undefined });
  const choice = { model, needs, operation, format, auto, priceOf: () => undefined, permits };
  const lanes = chooseLanes(choice, live, noWorkers);
  const named = model.kind === 'auto' ? (model.rule?.targets ?? []) : model.targets;
  const mayGo = ({ tier }: LivePool, id: string): boolean => {
    const isNamed = named.some((each) => each.model === id && (each.tier ?? tier) === tier);
    if (model.kind !== 'auto') return isNamed;
    return permits(tier, id) && (isNamed || (auto.tiers.some((each) => each === tier) && !auto.except.includes(id)));
  };
  const possible = live
    .filter((pool) => pool.tier !== 'tools' && pool.formats.includes(format) && hasWorkerBesides(pool, noWorkers))
    .flatMap((pool) => pool.models.filter((each) => canDo(each, operation)).map(({ id }) => ({ pool, model: id })))
    .filter(({ pool, model: id }) => mayGo(pool, id));
  return { lanes, possible };
}

function supports({ pool, model }: Placement, needs: Needs): boolean {
  const capabilities = pool.models.find(({ id }) => id === model)?.capabilities ?? [];
  return needed.every((need) => !needs[need] || capabilities.includes(need));
}

function fits({ pool, model }: Placement, { inputTokens }: Needs): boolean {
  const window = pool.models.find(({ id }) => id === model)?.contextWindow ?? Number.POSITIVE_INFINITY;
  return inputTokens * 0.8 <= window;
}

function inEachCase(check: (example: Case) => void): void {
  fc.assert(fc.property(cases, check), { numRuns: 1_000 });
}

it("the lanes of any request translate its format and do its operation, and its name, its purpose's rule and its key permit them", () => {
  inEachCase((example) => {
    const { lanes, possible } = choose(example);
    for (const { pool, model } of lanes)
      expect(possible.some((each) => each.pool === pool && each.model === model)).toBe(true);
  });
});

it('the lanes of any request are able if any permitted lane is', () => {
  let ruled = 0;
  inEachCase((example) => {
    const { lanes, possible } = choose(example);
    const { needs } = example[2];
    const isAble = (lane: Placement): boolean => supports(lane, needs) && fits(lane, needs);
    if (!possible.some(isAble)) return;
    expect(lanes.length).toBeGreaterThan(0);
    for (const lane of lanes) expect(isAble(lane)).toBe(true);
    ruled += Number(lanes.some(({ rule }) => rule !== undefined));
  });
  expect(ruled).toBeGreaterThan(20);
});

it('the lanes of any request meet, for auto, every need, even if no other lane is left', () => {
  let found = 0;
  inEachCase(([facts, file, asked]) => {
    const { lanes } = choose([facts, file, { ...asked, name: 'auto' }]);
    for (const lane of lanes) expect(supports(lane, asked.needs)).toBe(true);
    found += lanes.length;
  });
  expect(found).toBeGreaterThan(100);
});
