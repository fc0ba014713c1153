import { autoModel } from '#shared/formats/client-format.ts';
import { createModelNotFoundError } from '#shared/serving/resolve-model.ts';
import { listOperations } from '#shared/core/operation.ts';
import { generatesAnswers, type ClientApi, type ModelCard } from '#shared/formats/client-api.ts';
import type { LivePool } from '#shared/broker/dispatch/workers/live-worker.ts';
import type { Registry } from '#shared/registry/registry.ts';
import type { KeyPermits } from '#shared/serving/key-permits.ts';

/**
 * Returns the models that a key may use now. The first is `auto`, if any model has a live worker. Then follow every model with a live
 * worker, and every registry name with a target that has a live worker, each once, sorted by name.
 */
export function listModels(
  pools: readonly LivePool[],
  { models }: Pick<Registry, 'models'>,
  { allowsName, allowsLane }: Pick<KeyPermits, 'allowsName' | 'allowsLane'>,
  speedOf: (model: string) => number | undefined,
): ModelCard[] {
  const cards = new Map<string, ModelCard>();
  for (const pool of pools) {
    if (pool.tier === 'tools' || !allowsLane(pool.tier)) continue;
    const created = Math.floor(
      Math.min(...Array.from(pool.workers, ({ announcement }) => announcement.startedAt)) / 1000,
    );
    for (const model of pool.models) {
      const { id, contextWindow, maxOutput } = model;
      const card = cards.get(id);
      cards.set(id, {
        id,
        created: Math.min(created, card?.created ?? created),
        ownedBy: card?.ownedBy ?? pool.tier,
        tiers: [...new Set([...(card?.tiers ?? []), pool.tier])],
        operations: [...new Set([...(card?.operations ?? []), ...listOperations(model)])],
        capabilities: [...new Set([...(card?.capabilities ?? []), ...model.capabilities])],
        contextWindow: maxDefined(contextWindow, card?.contextWindow),
        maxOutput: maxDefined(maxOutput, card?.maxOutput),
        tokensPerSecond: speedOf(id),
      });
    }
  }
  for (const [name, { targets }] of Object.entries(models)) {
    const target = targets.map(({ model }) => cards.get(model)).find((card) => card !== undefined);
    if (target) cards.set(name, { ...target, id: name, ownedBy: 'rtr' });
  }
  const named = [...cards.values()].filter(({ id }) => allowsName(id)).sort((a, b) => a.id.localeCompare(b.id));
  const created = Math.min(...[...cards.values()].map((card) => card.created));
  const hasAuto = pools.some(({ tier, models }) => tier !== 'tools' && models.some(({ id }) => allowsLane(tier, id)));
  const generating = [...cards.values()].filter(generatesAnswers);
  const windows = generating.flatMap((card) => card.contextWindow ?? []);
  // `auto` sends a long input to a model with a large enough window, so the largest window counts.
  const contextWindow = windows.length > 0 ? Math.max(...windows) : undefined;
  const operations = [...new Set([...cards.values()].flatMap((card) => card.operations))];
  const capabilities = [...new Set(generating.flatMap((card) => card.capabilities))];
  const autoCard = { id: autoModel, created, ownedBy: 'rtr', tiers: [], operations, capabilities, contextWindow };
  return hasAuto ? [autoCard, ...named] : named;
}

/**
 * Finds a model by its name or an alias.
 * @param id the segments of the path after `/models/`, because ids may contain slashes, percent-encoded or not
 * @throws RouterError `model_not_found`
 */
export function findModel(
  cards: readonly ModelCard[],
  id: string | string[] | undefined,
  { nameBehind }: Pick<ClientApi, 'nameBehind'>,
): ModelCard {
  const name = Array.isArray(id) ? id.join('/') : (id ?? '');
  const card = [name, nameBehind?.(name)].map((each) => cards.find(({ id: cardId }) => cardId === each)).find(Boolean);
  if (!card) throw createModelNotFoundError(name);
  return card;
}

function maxDefined(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}
