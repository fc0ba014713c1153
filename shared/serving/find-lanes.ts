import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import { noWorkers, type Placement } from '#shared/broker/dispatch/workers/live-pool.ts';
import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import type { Operation } from '#shared/core/operation.ts';
import type { RequestPurpose } from '#shared/core/purpose.ts';
import type { Tier } from '#shared/core/tier.ts';
import type { RequestParameters } from '#shared/formats/client-format.ts';
import type { Registry } from '#shared/registry/registry.ts';
import { assertServed } from './assert-served.ts';
import { chooseLanes, hasLane, type LaneChoice } from './choose-lanes.ts';
import type { PriceLookup } from './estimate-amount.ts';
import { explainNoLane, type NoLane, type WaitsForWorker } from './explain-no-lane.ts';
import { findTiers } from './find-tiers.ts';
import { createModelDeniedError, readKeyPermits } from './key-permits.ts';
import { resolveModel, resolveRequestedName, type ResolvedModel } from './resolve-model.ts';

export interface LaneParts {
  workers: LiveWorkers;
  registry: () => Registry;
  priceOf: PriceLookup;
}

/** The lanes in which a request may be served. Each method reads the current workers, because workers come, go and change. */
export class ModelLanes {
  /** The requested name. */
  readonly name: string;
  readonly choice: LaneChoice;
  readonly #workers: LiveWorkers;

  constructor(name: string, choice: LaneChoice, workers: LiveWorkers) {
    this.name = name;
    this.choice = choice;
    this.#workers = workers;
  }

  /** Whether no pool can serve the request right now. */
  get isEmpty(): boolean {
    return !hasLane(this.choice, this.#workers.pools());
  }

  /**
   * Returns the pools that can serve the request right now, best first.
   * @param avoid the ids of workers that count as absent
   */
  findPlacements(avoid: ReadonlySet<string> = noWorkers): Placement[] {
    return chooseLanes(this.choice, this.#workers.pools(), avoid);
  }

  /** Explains why there are no lanes, see `explainNoLane`. */
  explainNone(waits: WaitsForWorker): NoLane | undefined {
    const workers = this.#workers;
    return explainNoLane(this.name, this.choice, {
      pools: workers.pools(),
      lostPools: workers.findLostPools(),
      ...waits,
    });
  }

  /** Returns the tiers that may serve the request, see `findTiers`. */
  findTiers(): Tier[] {
    const { model, auto, permits: allowsLane } = this.choice;
    const placements = this.findPlacements();
    return findTiers(model, { auto, workers: this.#workers, permits: { allowsLane }, placements });
  }
}

/**
 * Resolves the request's model name, and finds the lanes that the key permits.
 * @param resolved the models behind the name; undefined if the name is not resolved yet
 * @throws RouterError `permission_denied`, or an error of `assertServed`
 */
export function findLanes(
  { workers, registry, priceOf }: LaneParts,
  { parameters, operation, format }: { parameters: RequestParameters; operation: Operation; format: string },
  identity: Pick<KeyIdentity, 'models' | 'tiers'>,
  sentFor: RequestPurpose,
  resolved?: ResolvedModel,
): ModelLanes {
  const currentRegistry = registry();
  const { auto } = currentRegistry;
  const { needs } = parameters;
  const name = resolveRequestedName(parameters, currentRegistry.models, workers);
  const { allowsName, allowsLane: permits, isRestricted } = readKeyPermits(identity);
  if (!allowsName(name)) throw createModelDeniedError(name);
  const model = resolved ?? resolveModel(name, currentRegistry, sentFor);
  assertServed(model, name, operation, workers);
  const lanes = new ModelLanes(name, { model, needs, operation, format, auto, priceOf, permits }, workers);
  if (isRestricted && lanes.isEmpty && hasLane({ ...lanes.choice, permits: () => true }, workers.pools()))
    throw createModelDeniedError(name);
  return lanes;
}
