import type { Capability, ModelInfo } from '#shared/broker/announcement.ts';
import type { Placement } from '#shared/broker/dispatch/job.ts';
import { freeSlots, type LivePool } from '#shared/broker/dispatch/live-workers.ts';
import { tiers } from '#shared/broker/lane.ts';
import type { Needs } from '#shared/protocol/needs.ts';
import type { Wish } from './edge-family.ts';

/** The name that stands for any able model. */
export const autoModel = 'auto';

/**
 * A request's input is estimated, not counted: only a model whose context is smaller than this part of the estimate is
 * passed over. Whether it really fits is for the engine to say.
 */
const surelyTooMuch = 0.8;

interface Candidate extends Placement {
  able: boolean;
  prefers: boolean;
}

/**
 * The pools that can serve a request right now, best first: a named model wherever it is served, `auto` by any model
 * able to. GPU before CLI before cloud; inside a tier, those that think when asked to, then the most free slots.
 */
export function chooseLanes(
  wish: Pick<Wish, 'model' | 'needs'>,
  pools: Iterable<LivePool>,
  avoid: ReadonlySet<string>,
): Placement[] {
  const candidates: Candidate[] = [];
  for (const pool of pools) {
    if (pool.tier === 'tools' || !isServing(pool, avoid)) continue;
    const candidate = wish.model === autoModel ? anyModel(pool, wish.needs) : namedModel(pool, wish);
    if (candidate) candidates.push(candidate);
  }
  const able = candidates.filter((candidate) => candidate.able);
  // Named, it goes there all the same: the engine then says what it cannot do.
  const chosen = able.length > 0 || wish.model === autoModel ? able : candidates;
  return chosen.length < 2 ? chosen : chosen.toSorted(compare);
}

function isServing(pool: LivePool, avoid: ReadonlySet<string>): boolean {
  for (const { announcement } of pool.workers)
    if (announcement.accepting && !avoid.has(announcement.worker)) return true;
  return false;
}

function namedModel(pool: LivePool, { model: id, needs }: Pick<Wish, 'model' | 'needs'>): Candidate | undefined {
  const model = pool.models.find((each) => each.id === id);
  return model && { pool, model: id, able: isAble(model, needs), prefers: prefersIt(model, needs) };
}

function anyModel(pool: LivePool, needs: Needs): Candidate | undefined {
  const able = pool.models.filter((model) => isAble(model, needs));
  const model = able.find((each) => prefersIt(each, needs)) ?? able[0];
  return model && { pool, model: model.id, able: true, prefers: prefersIt(model, needs) };
}

/** Thinking is not among the needs: a model that does not think still answers. */
function isAble(model: ModelInfo, needs: Needs): boolean {
  if (model.contextWindow !== undefined && needs.inputTokens * surelyTooMuch > model.contextWindow) return false;
  return has(model, 'tools', needs.tools) && has(model, 'vision', needs.vision) && has(model, 'json', needs.json);
}

function prefersIt(model: ModelInfo, needs: Needs): boolean {
  return has(model, 'thinking', needs.thinking);
}

function has(model: ModelInfo, capability: Capability, needed: boolean): boolean {
  return !needed || model.capabilities.includes(capability);
}

function compare(a: Candidate, b: Candidate): number {
  return (
    tiers.indexOf(a.pool.tier) - tiers.indexOf(b.pool.tier) ||
    Number(b.prefers) - Number(a.prefers) ||
    freeSlots(b.pool) - freeSlots(a.pool)
  );
}
