import type { TokenPrice } from '#shared/accounts/prices/model-price.ts';
import { capabilities } from '#shared/broker/contract/announcement.ts';
import type { LivePool } from '#shared/broker/dispatch/workers/live-worker.ts';
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

/** Look up the prices and speeds of models, which workers do not announce. Without a function, answers leave out its values. */
export interface ModelFacts {
  priceOf?: (tier: Tier, model: string) => Pick<TokenPrice, 'input' | 'output'> | undefined;
  speedOf?: (tier: Tier, model: string) => ModelSpeed | undefined;
}

/** Returns the models that clients can request: `auto`, then the registry's names, then all other models, each sorted by name. */
export function listServedModels(
  pools: Iterable<LivePool>,
  { models, auto }: Pick<Registry, 'models' | 'auto'>,
  facts: ModelFacts = {},
): ServedModel[] {
  const pooled = [...pools].flatMap((pool) => pool.models.map((model): PooledModel => ({ pool, model })));
  const byId = Map.groupBy(pooled, ({ model }) => model.id);
  const registered = Object.entries(models).flatMap(([name, { targets }]) => {
    const reachable = targets.flatMap(({ model, tier }) =>
      (byId.get(model) ?? []).filter(({ pool }) => tier === undefined || pool.tier === tier),
    );
    return reachable.length === 0 ? [] : [describeModel(name, 'registered', reachable, facts)];
  });
  const unregistered = Array.from(byId, ([id, entries]) => describeModel(id, 'model', entries, facts)).filter(
    ({ id }) => !Object.hasOwn(models, id),
  );
  const autoModels = pooled.filter(
    ({ pool, model: { id } }) =>
      auto.tiers.some((tier) => tier === pool.tier) && !auto.except.includes(id) && (auto.only?.includes(id) ?? true),
  );
  return [
    ...(autoModels.length === 0 ? [] : [describeModel('auto', 'auto', autoModels, facts)]),
    ...registered.sort(byName),
    ...unregistered.sort(byName),
  ];
}

/** Marks the models that a key may not request. */
export function markNotPermitted(
  models: readonly ServedModel[],
  { allowsName, allowsLane }: Pick<KeyPermits, 'allowsName' | 'allowsLane'>,
): ServedModel[] {
  return models.map((model) => {
    const lanes = model.servedBy.flatMap(({ tier, models: names }) => names.map((name) => ({ tier, name })));
    // If a name is on the key's list, all targets of the name may serve. `auto` chooses only among the models on the list.
    const isServed = lanes.some(({ tier, name }) => allowsLane(tier, model.kind === 'auto' ? name : undefined));
    return allowsName(model.id) && isServed ? model : { ...model, notPermitted: true };
  });
}

function describeModel(
  id: string,
  kind: ServedModel['kind'],
  pooled: readonly PooledModel[],
  facts: ModelFacts,
): ServedModel {
  const contextWindow = findLargest(pooled.map(({ model }) => model.contextWindow));
  const maxOutput = findLargest(pooled.map(({ model }) => model.maxOutput));
  const tiers = Map.groupBy(pooled, ({ pool }) => pool.tier);
  return {
    id,
    kind,
    operations: modelOperations.filter((operation) => pooled.some(({ model }) => canDo(model, operation))),
    capabilities: capabilities.filter((name) => pooled.some(({ model }) => model.capabilities.includes(name))),
    ...(contextWindow === undefined ? {} : { contextWindow }),
    ...(maxOutput === undefined ? {} : { maxOutput }),
    servedBy: Array.from(tiers, ([tier, entries]) => {
      const names = [...new Set(entries.map(({ model }) => model.id))].sort();
      const workers = new Set(entries.flatMap(({ pool }) => [...pool.workers])).size;
      return { tier, workers, models: names, ...findCostAndSpeed(tier, names, facts) };
    }),
  };
}

type ServingTier = ServedModel['servedBy'][number];

/**
 * Returns the names of a tier's models without a price. If the tier serves a single model, also returns the price and speed of this model.
 */
function findCostAndSpeed(
  tier: Tier,
  names: readonly string[],
  { priceOf, speedOf }: ModelFacts,
): Pick<ServingTier, 'price' | 'speed' | 'unpriced'> {
  const [onlyModel = '', ...others] = names;
  const price = others.length === 0 ? priceOf?.(tier, onlyModel) : undefined;
  const speed = others.length === 0 ? speedOf?.(tier, onlyModel) : undefined;
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

function findLargest(values: readonly (number | undefined)[]): number | undefined {
  const numbers = values.filter((value) => value !== undefined);
  return numbers.length === 0 ? undefined : Math.max(...numbers);
}
