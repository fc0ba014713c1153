import type { Capability, ModelInfo } from '#shared/broker/contract/announcement.ts';
import { freeSlots, isServing, type LivePool, type Placement } from '#shared/broker/dispatch/workers/live-pool.ts';
import { modelTiers, type Tier } from '#shared/core/tier.ts';
import type { Needs } from '#shared/formats/client-format.ts';
import type { Registry } from '#shared/registry/registry.ts';
import type { ResolvedModel } from './resolve-model.ts';

/**
 * A request's input is estimated, not counted: only a model whose context is smaller than this part of the estimate is
 * passed over. Whether it really fits is for the engine to say.
 */
const surelyTooMuch = 0.8;

/** What a request asks of the lanes. */
export interface LaneRequest {
  model: ResolvedModel;
  needs: Needs;
  /** Name of the client's format: only workers that can translate it are chosen. */
  format: string;
}

/** What a router and a key let requests use. */
export interface LaneRules {
  auto: Registry['auto'];
  /** A model's price, where it is known. */
  priceOf: (tier: Tier, model: string) => { output: number } | undefined;
  /** Whether the key lets a tier serve, and `auto` choose a model. */
  permits: (tier: Tier, model?: string) => boolean;
}

interface Candidate extends Placement {
  able: boolean;
  contextWindow: number;
  /** Thinks, when the request asks for it. */
  prefers: boolean;
  /** Place in the order of targets or tiers; lower is better. */
  rank: number;
}

/**
 * The pools that can serve a request right now, best first.
 *
 * `auto`: any model able to, in the order of tiers (GPU, CLI, cloud unless the registry says otherwise). A name: its
 * targets in order. Equals are ordered by tier, then those that think when asked to, then by free slots.
 */
export function chooseLanes(
  { model, needs, format }: LaneRequest,
  { auto, priceOf, permits }: LaneRules,
  pools: Iterable<LivePool>,
  avoid: ReadonlySet<string>,
): Placement[] {
  const candidates: Candidate[] = [];
  for (const pool of pools) {
    if (pool.tier === 'tools' || !pool.formats.includes(format) || !isServing(pool, avoid)) continue;
    const candidate =
      model.kind === 'auto'
        ? anyModel(pool, needs, auto, priceOf, permits)
        : permits(pool.tier) && namedModel(pool, needs, model.targets);
    if (candidate) candidates.push(candidate);
  }
  const able = candidates.filter((candidate) => candidate.able);
  // What nobody is able to goes where it was named to, or to the largest context: the worker then says why it cannot.
  const chosen = able.length > 0 ? able : model.kind === 'auto' ? largestContext(candidates) : candidates;
  return chosen.length < 2 ? chosen : chosen.toSorted(compare);
}

/** Of candidates that are able but for their context, those whose context is the largest. */
function largestContext(candidates: readonly Candidate[]): Candidate[] {
  const largest = Math.max(...candidates.map(({ contextWindow }) => contextWindow));
  return candidates.filter(({ contextWindow }) => contextWindow === largest);
}

/** The first target that the pool serves. */
function namedModel(
  pool: LivePool,
  needs: Needs,
  targets: Extract<ResolvedModel, { kind: 'named' }>['targets'],
): Candidate | undefined {
  for (const [rank, { model: id, tier }] of targets.entries()) {
    if (tier !== undefined && tier !== pool.tier) continue;
    const model = pool.models.find((each) => each.id === id);
    if (model) return { pool, ...judged(model, needs), rank };
  }
  return undefined;
}

function anyModel(
  pool: LivePool,
  needs: Needs,
  auto: Registry['auto'],
  priceOf: LaneRules['priceOf'],
  permits: LaneRules['permits'],
): Candidate | undefined {
  const rank = auto.tiers.findIndex((tier) => tier === pool.tier);
  if (rank < 0) return undefined;
  const capable = pool.models
    .filter(
      (model) =>
        permits(pool.tier, model.id) && isAllowed(model.id, pool.tier, auto, priceOf) && isCapable(model, needs),
    )
    .map((model) => judged(model, needs));
  const able = capable.filter((each) => each.able);
  const chosen = able.find(({ prefers }) => prefers) ?? able[0] ?? largest(capable);
  return chosen && { pool, ...chosen, rank, maxWaitMs: auto.max_wait_ms[auto.tiers[rank] ?? 'gpu'] };
}

function largest<Model extends { contextWindow: number }>(models: readonly Model[]): Model | undefined {
  return models.toSorted((a, b) => b.contextWindow - a.contextWindow)[0];
}

function judged(model: ModelInfo, needs: Needs): Pick<Candidate, 'model' | 'able' | 'contextWindow' | 'prefers'> {
  const { id, contextWindow = Number.POSITIVE_INFINITY } = model;
  const fits = needs.inputTokens * surelyTooMuch <= contextWindow;
  return {
    model: id,
    able: fits && isCapable(model, needs),
    contextWindow,
    prefers: has(model, 'thinking', needs.thinking),
  };
}

function isAllowed(
  id: string,
  tier: Tier,
  { only, except, max_cost: maxCost }: Registry['auto'],
  priceOf: LaneRules['priceOf'],
): boolean {
  if (except.includes(id) || (only && !only.includes(id))) return false;
  // Prices are looked up for those alone who have set a bound.
  return maxCost === undefined || (priceOf(tier, id)?.output ?? 0) <= maxCost;
}

/** Thinking is not among the needs: a model that does not think still answers. */
function isCapable(model: ModelInfo, needs: Needs): boolean {
  return has(model, 'tools', needs.tools) && has(model, 'vision', needs.vision) && has(model, 'json', needs.json);
}

function has(model: ModelInfo, capability: Capability, needed: boolean): boolean {
  return !needed || model.capabilities.includes(capability);
}

function compare(a: Candidate, b: Candidate): number {
  return (
    a.rank - b.rank ||
    tierOrder(a.pool) - tierOrder(b.pool) ||
    Number(b.prefers) - Number(a.prefers) ||
    freeSlots(b.pool) - freeSlots(a.pool)
  );
}

function tierOrder({ tier }: LivePool): number {
  return modelTiers.findIndex((each) => each === tier);
}
