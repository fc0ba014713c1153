import type { Capability, ModelInfo } from '#shared/broker/contract/announcement.ts';
import { countFreeSlots, hasWorkerBesides, type Placement } from '#shared/broker/dispatch/workers/live-pool.ts';
import type { LivePool } from '#shared/broker/dispatch/workers/live-worker.ts';
import { canDo, type Operation } from '#shared/core/operation.ts';
import { modelTiers, type Tier } from '#shared/core/tier.ts';
import type { Needs } from '#shared/formats/client-format.ts';
import { featureKey } from '#shared/formats/request-feature.ts';
import type { Registry, RegistryTarget } from '#shared/registry/registry.ts';
import { hasAllCapabilities, findRequiredCapabilities } from './required-capabilities.ts';
import type { ResolvedModel } from './resolve-model.ts';

/**
 * The share of the estimated input that a model's context must hold; models with less context are skipped. The share is below 1, because
 * the input is an estimate, and the engine decides whether the request fits.
 */
const certainShare = 0.8;

export interface LaneRequest {
  model: ResolvedModel;
  needs: Needs;
  operation: Operation;
  /** Name of the client format. Only workers that translate it are chosen. */
  format: string;
}

interface LaneNeeds extends Needs {
  operation: Operation;
  format: string;
  /** See `findRequiredCapabilities`. */
  required: readonly Capability[];
}

export interface LaneRules {
  auto: Registry['auto'];
  priceOf: (tier: Tier, model: string) => { output: number } | undefined;
  /** Whether the key allows a tier and, for `auto`, a model. */
  permits: (tier: Tier, model?: string) => boolean;
}

interface Candidate extends Placement {
  isAble: boolean;
  contextWindow: number;
  /** Whether the model can think, if the request asks for thinking; true for other requests. */
  isPreferred: boolean;
  /** Position in the order of targets or tiers; lower is better. */
  rank: number;
}

/**
 * Returns the pools that can serve a request now, best first.
 *
 * For `auto`: every able model, in the order of tiers (by default GPU, CLI, cloud). With a rule, only the rule's able targets in order, if
 * there are any. For a name: its targets in order. Equally good pools are ordered by tier, then by thinking if the request asks for it,
 * then by free slots.
 */
export function chooseLanes(
  { model, needs: statedNeeds, operation, format }: LaneRequest,
  { auto, priceOf, permits }: LaneRules,
  pools: Iterable<LivePool>,
  avoid: ReadonlySet<string>,
): Placement[] {
  const needs: LaneNeeds = {
    ...statedNeeds,
    operation,
    format,
    required: findRequiredCapabilities(statedNeeds, format),
  };
  const candidates: Candidate[] = [];
  const ruleCandidates: Candidate[] = [];
  for (const pool of pools) {
    if (pool.tier === 'tools' || !pool.formats.includes(format) || !hasWorkerBesides(pool, avoid)) continue;
    const candidate =
      model.kind === 'auto'
        ? chooseModel(pool, needs, auto, priceOf, permits)
        : permits(pool.tier) && chooseTarget(pool, needs, model.targets, model.rule);
    if (candidate) candidates.push(candidate);
    if (model.kind !== 'auto' || !model.rule) continue;
    const { targets, path } = model.rule;
    const permittedTargets = targets.filter((target) => permits(pool.tier, target.model));
    const target = chooseTarget(pool, needs, permittedTargets, path);
    if (target?.isAble) ruleCandidates.push(target);
  }
  const able = ruleCandidates.length > 0 ? ruleCandidates : candidates.filter((candidate) => candidate.isAble);
  // If no model is able, the request goes to the named model or to the models with the largest context, and the worker explains the
  // refusal.
  const bestCandidates = able.length > 0 ? able : model.kind === 'auto' ? keepLargestContext(candidates) : candidates;
  return bestCandidates.length < 2 ? bestCandidates : addGroups(bestCandidates.toSorted(compareCandidates));
}

/** Returns the candidates with the largest context, for a request that is too large for all models. */
function keepLargestContext(candidates: readonly Candidate[]): Candidate[] {
  const largest = Math.max(...candidates.map(({ contextWindow }) => contextWindow));
  return candidates.filter(({ contextWindow }) => contextWindow === largest);
}

/** Returns the first able target that the pool serves; if none is able, the first target that it serves. */
function chooseTarget(
  pool: LivePool,
  needs: LaneNeeds,
  targets: readonly RegistryTarget[],
  rule: string | undefined,
): Candidate | undefined {
  let first: Candidate | undefined;
  for (const [rank, { model: id, tier }] of targets.entries()) {
    if (tier !== undefined && tier !== pool.tier) continue;
    const model = pool.models.find((each) => each.id === id);
    if (!model || !canDo(model, needs.operation)) continue;
    const candidate = { pool, ...judgeModel(model, needs), rank, rule };
    if (candidate.isAble) return candidate;
    first ??= candidate;
  }
  return first;
}

function chooseModel(
  pool: LivePool,
  needs: LaneNeeds,
  auto: Registry['auto'],
  priceOf: LaneRules['priceOf'],
  permits: LaneRules['permits'],
): Candidate | undefined {
  const rank = auto.tiers.findIndex((tier) => tier === pool.tier);
  if (rank < 0) return undefined;
  const capableModels = pool.models
    .filter(
      (model) =>
        canDo(model, needs.operation) &&
        permits(pool.tier, model.id) &&
        isAllowed(model.id, pool.tier, auto, priceOf) &&
        hasAllCapabilities(model, needs.required),
    )
    .map((model) => judgeModel(model, needs));
  const able = capableModels.filter((each) => each.isAble);
  const bestModel = able.find(({ isPreferred }) => isPreferred) ?? able[0] ?? findLargest(capableModels);
  return bestModel && { pool, ...bestModel, rank, maxWaitMs: auto.max_wait_ms[auto.tiers[rank] ?? 'gpu'] };
}

function findLargest<Model extends { contextWindow: number }>(models: readonly Model[]): Model | undefined {
  return models.toSorted((a, b) => b.contextWindow - a.contextWindow)[0];
}

function judgeModel(
  model: ModelInfo,
  needs: LaneNeeds,
): Pick<Candidate, 'model' | 'isAble' | 'contextWindow' | 'isPreferred'> {
  const { id, contextWindow = Number.POSITIVE_INFINITY } = model;
  const fits = (needs.longestInput ?? needs.inputTokens) * certainShare <= contextWindow;
  return {
    model: id,
    isAble: fits && hasAllCapabilities(model, needs.required) && takesAllFeatures(model, needs),
    contextWindow,
    isPreferred: !needs.thinking || model.capabilities.includes('thinking'),
  };
}

/** Whether the settings of `auto` allow a model: its name, and its price if they limit the price. */
export function isAllowed(
  id: string,
  tier: Tier,
  { only, except, max_cost: maxCost }: Registry['auto'],
  priceOf: LaneRules['priceOf'],
): boolean {
  if (except.includes(id) || (only && !only.includes(id))) return false;
  // Prices matter only if there is a cost limit.
  return maxCost === undefined || (priceOf(tier, id)?.output ?? 0) <= maxCost;
}

/** Whether a model takes all features of the request. If no model does, the worker names the feature that it refuses. */
function takesAllFeatures({ lacks }: ModelInfo, { features, format }: LaneNeeds): boolean {
  return !lacks || !features?.some((name) => lacks.includes(featureKey(name, format)));
}

/** Numbers the candidates by groups. The candidates of a group differ only in their free slots. */
function addGroups(sorted: readonly Candidate[]): Candidate[] {
  let group = 0;
  return sorted.map((candidate, at) => {
    const previous = sorted[at - 1];
    if (previous && compareFit(previous, candidate) !== 0) group += 1;
    return { ...candidate, group };
  });
}

function compareCandidates(a: Candidate, b: Candidate): number {
  return compareFit(a, b) || countFreeSlots(b.pool, b.model) - countFreeSlots(a.pool, a.model);
}

function compareFit(a: Candidate, b: Candidate): number {
  return (
    a.rank - b.rank ||
    findTierPosition(a.pool) - findTierPosition(b.pool) ||
    Number(b.isPreferred) - Number(a.isPreferred)
  );
}

function findTierPosition({ tier }: LivePool): number {
  return modelTiers.findIndex((each) => each === tier);
}
