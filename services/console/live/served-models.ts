import type { TokenPrice } from '#shared/accounts/prices/model-price.ts';
import { capabilities } from '#shared/broker/contract/announcement.ts';
import type { LivePool } from '#shared/broker/dispatch/workers/live-pool.ts';
import { canDo, modelOperations } from '#shared/core/operation.ts';
import type { Tier } from '#shared/core/tier.ts';
import type { Registry } from '#shared/registry/registry.ts';
import type { KeyPermits } from '#shared/serving/key-permits.ts';
import type { ServedModel } from '../contract/live.ts';
import type { ModelSpeed } from './model-speeds.ts';

interface PooledModel {
  pool: LivePool;
  model: LivePool['models'][number];
}

/** The prices and speeds of models, which workers do not announce. Absent functions leave them out. */
export interface ModelFacts {
  priceOf?: (tier: Tier, model: string) => Pick<TokenPrice, 'input' | 'output'> | undefined;
  speedOf?: (tier: Tier, model: string) => ModelSpeed | undefined;
}

/** Returns the models that clients can request: `auto`, the registry's names, then all others by name. */
export function servedModels(
  pools: Iterable<LivePool>,
  { models, auto }: Pick<Registry, 'models' | 'auto'>,
  known: ModelFacts = {},
): ServedModel[] {
  const pooled = [...pools].flatMap((pool) => pool.models.map((model): PooledModel => ({ pool, model })));
  const byId = Map.groupBy(pooled, ({ model }) => model.id);
  const registered = Object.entries(models).flatMap(([name, { targets }]) => {
    const reached = targets.flatMap(({ model, tier }) =>
      (byId.get(model) ?? []).filter(({ pool }) => tier === undefined || pool.tier === tier),
    );
    return reached.length === 0 ? [] : [describe(name, 'registered', reached, known)];
  });
  const plain = Array.from(byId, ([id, each]) => describe(id, 'model', each, known)).filter(
    ({ id }) => !Object.hasOwn(models, id),
  );
  const automatic = pooled.filter(
    ({ pool, model: { id } }) =>
      auto.tiers.some((tier) => tier === pool.tier) && !auto.except.includes(id) && (auto.only?.includes(id) ?? true),
  );
  return [
    ...(automatic.length === 0 ? [] : [describe('auto', 'auto', automatic, known)]),
    ...registered.sort(byName),
    ...plain.sort(byName),
  ];
}

/** Returns the models with a mark on those that a key may not request. */
export function markNotPermitted(
  models: readonly ServedModel[],
  { allowsName, allowsLane }: Pick<KeyPermits, 'allowsName' | 'allowsLane'>,
): ServedModel[] {
  return models.map((each) => {
    const lanes = each.servedBy.flatMap(({ tier, models: names }) => names.map((name) => ({ tier, name })));
    // For a name on the key's list, all its targets may serve. `auto` chooses only among the models on the list.
    const isServed = lanes.some(({ tier, name }) => allowsLane(tier, each.kind === 'auto' ? name : undefined));
    return allowsName(each.id) && isServed ? each : { ...each, notPermitted: true };
  });
}

function describe(
  id: string,
  kind: ServedModel['kind'],
  pooled: readonly PooledModel[],
  known: ModelFacts,
): ServedModel {
  const contextWindow = largest(pooled.map(({ model }) => model.contextWindow));
  const maxOutput = largest(pooled.map(({ model }) => model.maxOutput));
  const tiers = Map.groupBy(pooled, ({ pool }) => pool.tier);
  return {
    id,
    kind,
    operations: modelOperations.filter((operation) => pooled.some(({ model }) => canDo(model, operation))),
    capabilities: capabilities.filter((name) => pooled.some(({ model }) => model.capabilities.includes(name))),
    ...(contextWindow === undefined ? {} : { contextWindow }),
    ...(maxOutput === undefined ? {} : { maxOutput }),
    servedBy: Array.from(tiers, ([tier, each]) => {
      const names = [...new Set(each.map(({ model }) => model.id))].sort();
      const workers = new Set(each.flatMap(({ pool }) => [...pool.workers])).size;
      return { tier, workers, models: names, ...costAndSpeed(tier, names, known) };
    }),
  };
}

type Served = ServedModel['servedBy'][number];

/** Returns the names of a tier's models whose cost is not counted. If the tier serves only one model, returns its price and speed, too. */
function costAndSpeed(
  tier: Tier,
  names: readonly string[],
  { priceOf, speedOf }: ModelFacts,
): Pick<Served, 'price' | 'speed' | 'unpriced'> {
  const [only = '', ...others] = names;
  const price = others.length === 0 ? priceOf?.(tier, only) : undefined;
  const speed = others.length === 0 ? speedOf?.(tier, only) : undefined;
  const isPaid = priceOf !== undefined && (tier === 'cloud' || tier === 'cli');
  const unpriced = isPaid ? names.filter((name) => priceOf(tier, name) === undefined) : [];
  return {
    ...(price && { price: { input: price.input, output: price.output } }),
    ...(speed && { speed }),
    ...(unpriced.length > 0 && { unpriced }),
  };
}

function byName(a: ServedModel, b: ServedModel): number {
  return a.id.localeCompare(b.id);
}

function largest(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}
