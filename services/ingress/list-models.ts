import { modelNotFound } from '#shared/protocol/model-not-found.ts';
import type { ModelCard } from '#shared/protocol/model-card.ts';
import type { LivePool } from '#shared/broker/dispatch/live-workers.ts';
import { autoModel } from './choose-lanes.ts';

/** The models a client can name right now: `auto` when anything serves, then every live model once, by name. */
export function listModels(pools: Iterable<LivePool>): ModelCard[] {
  const cards = new Map<string, ModelCard>();
  for (const pool of pools) {
    if (pool.tier === 'tools') continue;
    const created = Math.floor(
      Math.min(...Array.from(pool.workers, ({ announcement }) => announcement.startedAt)) / 1000,
    );
    for (const { id, contextWindow, maxOutput } of pool.models) {
      const known = cards.get(id);
      cards.set(id, {
        id,
        created: Math.min(created, known?.created ?? created),
        ownedBy: known?.ownedBy ?? pool.tier,
        contextWindow: larger(contextWindow, known?.contextWindow),
        maxOutput: larger(maxOutput, known?.maxOutput),
      });
    }
  }
  const named = [...cards.values()].sort((a, b) => a.id.localeCompare(b.id));
  const created = Math.min(...named.map((card) => card.created));
  return named.length === 0 ? [] : [{ id: autoModel, created, ownedBy: 'rtr' }, ...named];
}

/**
 * The model of this name.
 * @param id the path behind `/models/`, in parts: ids may hold slashes, percent-encoded or not
 * @throws RouterError `model_not_found`
 */
export function findModel(pools: Iterable<LivePool>, id: string | string[] | undefined): ModelCard {
  const name = Array.isArray(id) ? id.join('/') : (id ?? '');
  const card = listModels(pools).find((each) => each.id === name);
  if (!card) throw modelNotFound(name);
  return card;
}

function larger(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}
