import type { Capability, ModelInfo } from '#shared/broker/contract/announcement.ts';
import {
  countFreeSlots,
  hasWorkerBesides,
  noWorkers,
  type Placement,
} from '#shared/broker/dispatch/workers/live-pool.ts';
import type { LivePool } from '#shared/broker/dispatch/workers/live-worker.ts';
import { canDo, type Operation } from '#shared/core/operation.ts';
import { modelTiers, type Tier } from '#shared/core/tier.ts';
import type { Needs } from '#shared/formats/client-format.ts';
import { createFeatureKey } from '#shared/formats/request-feature.ts';
import type { Registry, RegistryTarget } from '#shared/registry/registry.ts';
import { hasAllCapabilities, findRequiredCapabilities } from './required-capabilities.ts';
import type { ResolvedModel } from './resolve-model.ts';

/**
 * The share of the estimated input that a model's context must hold. Models with less context are skipped. The share is below 1, because
 * the input is an estimate, and the engine decides whether the request fits.
 */
const certainShare = 0.8;

/** The facts that decide which pools may serve a request. */
export interface LaneChoice {
  model: ResolvedModel;
  needs: Needs;
  operation: Operation;
  /** Name of the client format. Only workers that translate it are chosen. */
  format: string;
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
 * - `auto`: every able model, in the order of tiers (by default GPU, CLI, cloud). If a rule applies and has able targets, only these
 *   targets, in their order.
 * - A name: its targets in their order.
 *
 * Equally good pools are ordered by tier, then by thinking if the request asks for it, then by free slots.
 */
export function chooseLanes(choice: LaneChoice, pools: Iterable<LivePool>, avoid: ReadonlySet<string>): Placement[] {
  const { model } = choice;
  const required = findRequiredCapabilities(choice.needs, choice.format);
  const candidates: Candidate[] = [];
  let ruleCandidates: Candidate[] | undefined;
  for (const pool of pools) {
    if (!takesFormat(pool, choice, avoid)) continue;
    const candidate = findCandidate(pool, choice, required);
    if (candidate) candidates.push(candidate);
    const target = findRuleCandidate(pool, choice, required);
    if (target) (ruleCandidates ??= []).push(target);
  }
  const ableCandidates = ruleCandidates ?? candidates.filter((candidate) => candidate.isAble);
  // If no model is able, the request goes to the named model or to the models with the largest context, and the worker explains the
  // refusal.
  const bestCandidates =
    ableCandidates.length > 0 ? ableCandidates : model.kind === 'auto' ? keepLargestContext(candidates) : candidates;
  return bestCandidates.length < 2 ? bestCandidates : addGroups(bestCandidates.toSorted(compareCandidates));
}

/** Returns whether `chooseLanes` finds any pool. */
export function hasLane(choice: LaneChoice, pools: Iterable<LivePool>): boolean {
  const required = findRequiredCapabilities(choice.needs, choice.format);
  for (const pool of pools) {
    if (!takesFormat(pool, choice, noWorkers)) continue;
    if (findCandidate(pool, choice, required) || findRuleCandidate(pool, choice, required)) return true;
  }
  return false;
}

function takesFormat(pool: LivePool, { format }: LaneChoice, avoid: ReadonlySet<string>): boolean {
  return pool.tier !== 'tools' && pool.formats.includes(format) && hasWorkerBesides(pool, avoid);
}

function findCandidate(pool: LivePool, choice: LaneChoice, required: readonly Capability[]): Candidate | undefined {
  const { model, permits } = choice;
  if (model.kind === 'auto') return chooseModel(pool, choice, required);
  return permits(pool.tier) ? chooseTarget(pool, choice, required, model.targets, model.rule) : undefined;
}

/** Returns the first able target of the rule of `auto`; undefined if there is no rule or no able target. */
function findRuleCandidate(pool: LivePool, choice: LaneChoice, required: readonly Capability[]): Candidate | undefined {
  const { model, permits } = choice;
  if (model.kind !== 'auto' || !model.rule) return undefined;
  const { targets, path } = model.rule;
  const permittedTargets = targets.filter((target) => permits(pool.tier, target.model));
  const candidate = chooseTarget(pool, choice, required, permittedTargets, path);
  return candidate?.isAble ? candidate : undefined;
}

/** Returns the candidates with the largest context, for a request that is too large for all models. */
function keepLargestContext(candidates: readonly Candidate[]): Candidate[] {
  const largest = Math.max(...candidates.map(({ contextWindow }) => contextWindow));
  return candidates.filter(({ contextWindow }) => contextWindow === largest);
}

/** Returns the first able target that the pool serves; if no target is able, the first target that the pool serves. */
function chooseTarget(
  pool: LivePool,
  choice: LaneChoice,
  required: readonly Capability[],
  targets: readonly RegistryTarget[],
  rule: string | undefined,
): Candidate | undefined {
  let firstServed: Candidate | undefined;
  let rank = -1;
  for (const { model: id, tier } of targets) {
    rank += 1;
    if (tier !== undefined && tier !== pool.tier) continue;
    const model = pool.models.find((each) => each.id === id);
    if (!model || !canDo(model, choice.operation)) continue;
    const candidate = toCandidate(pool, model, choice, required, rank);
    candidate.rule = rule;
    if (candidate.isAble) return candidate;
    firstServed ??= candidate;
  }
  return firstServed;
}

function chooseModel(pool: LivePool, choice: LaneChoice, required: readonly Capability[]): Candidate | undefined {
  const { auto, priceOf, permits, operation } = choice;
  const rank = auto.tiers.findIndex((tier) => tier === pool.tier);
  if (rank < 0) return undefined;
  const capableModels = pool.models
    .filter(
      (model) =>
        canDo(model, operation) &&
        permits(pool.tier, model.id) &&
        isAllowed(model.id, pool.tier, auto, priceOf) &&
        hasAllCapabilities(model, required),
    )
    .map((model) => toCandidate(pool, model, choice, required, rank));
  const ableModels = capableModels.filter((each) => each.isAble);
  const bestModel = ableModels.find(({ isPreferred }) => isPreferred) ?? ableModels[0] ?? findLargest(capableModels);
  if (bestModel) bestModel.maxWaitMs = auto.max_wait_ms[auto.tiers[rank] ?? 'gpu'];
  return bestModel;
}

function findLargest(candidates: readonly Candidate[]): Candidate | undefined {
  return candidates.toSorted((a, b) => b.contextWindow - a.contextWindow)[0];
}

function toCandidate(
  pool: LivePool,
  model: ModelInfo,
  { needs, format }: LaneChoice,
  required: readonly Capability[],
  rank: number,
): Candidate {
  const { id, contextWindow = Number.POSITIVE_INFINITY } = model;
  const fits = (needs.longestInput ?? needs.inputTokens) * certainShare <= contextWindow;
  return {
    pool,
    model: id,
    isAble: fits && hasAllCapabilities(model, required) && takesAllFeatures(model, needs, format),
    contextWindow,
    isPreferred: !needs.thinking || model.capabilities.includes('thinking'),
    rank,
    rule: undefined,
    maxWaitMs: undefined,
    group: undefined,
  };
}

/** Whether the settings of `auto` allow a model: its name and, if the settings limit the price, its price. */
export function isAllowed(
  id: string,
  tier: Tier,
  { only, except, max_cost: maxCost }: Registry['auto'],
  priceOf: LaneChoice['priceOf'],
): boolean {
  if (except.includes(id) || (only && !only.includes(id))) return false;
  // Prices matter only if there is a cost limit.
  return maxCost === undefined || (priceOf(tier, id)?.output ?? 0) <= maxCost;
}

/** Whether a model takes all features of the request. If no model takes a feature, the error of a worker names the feature. */
function takesAllFeatures({ lacks }: ModelInfo, { features }: Needs, format: string): boolean {
  return !lacks || !features?.some((name) => lacks.includes(createFeatureKey(name, format)));
}

/** Numbers the candidates by groups. The candidates of a group differ only in their free slots. */
function addGroups(sorted: Candidate[]): Candidate[] {
  let group = 0;
  let previous: Candidate | undefined;
  for (const candidate of sorted) {
    if (previous && compareFit(previous, candidate) !== 0) group += 1;
    candidate.group = group;
    previous = candidate;
  }
  return sorted;
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
