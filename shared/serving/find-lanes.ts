import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import { noWorkers, type Placement } from '#shared/broker/dispatch/workers/live-pool.ts';
import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import type { Operation } from '#shared/core/operation.ts';
import type { RequestPurpose } from '#shared/core/purpose.ts';
import type { RequestParameters } from '#shared/formats/client-format.ts';
import type { Registry } from '#shared/registry/registry.ts';
import { assertServed } from './assert-served.ts';
import { chooseLanes } from './choose-lanes.ts';
import type { PriceLookup } from './estimate-amount.ts';
import { modelDeniedError, readKeyPermits, type KeyPermits } from './key-permits.ts';
import { resolveRequestedName } from './resolve-requested-name.ts';
import { resolveModel, type ResolvedModel } from './resolve-model.ts';
import { explainNoLane, type NoLane, type WaitsForWorker } from './explain-no-lane.ts';

export interface LanesRequest {
  parameters: RequestParameters;
  operation: Operation;
  format: string;
  sentFor: RequestPurpose;
  /** The models behind the name; undefined if the name is not resolved yet. */
  resolved?: ResolvedModel | undefined;
}

export interface ModelLanes {
  name: string;
  model: ResolvedModel;
  permits: KeyPermits;
  /** Returns the pools that can serve the request right now, best first. Workers to avoid count as absent. */
  place: (avoid: ReadonlySet<string>) => Placement[];
  /** Explains why there are no lanes, see `explainNoLane`. */
  explainNone: (waits: WaitsForWorker) => NoLane | undefined;
}

/**
 * Resolves the request's model name and finds the lanes in which the key may have the request served.
 * @throws RouterError `permission_denied`, or as `assertServed` does
 */
export function findLanes(
  { workers, registry, priceOf }: { workers: LiveWorkers; registry: () => Registry; priceOf: PriceLookup },
  { parameters, operation, format, sentFor, resolved }: LanesRequest,
  identity: Pick<KeyIdentity, 'models' | 'tiers'>,
): ModelLanes {
  const { models, auto } = registry();
  const { needs } = parameters;
  const name = resolveRequestedName(parameters, models, workers);
  const permits = readKeyPermits(identity);
  if (!permits.allowsName(name)) throw modelDeniedError(name);
  const model = resolved ?? resolveModel(name, { models, auto }, sentFor);
  assertServed(model, name, operation, workers);
  const request = { model, needs, operation, format };
  const rules = { auto, priceOf, permits: permits.allowsLane };
  const findPlacements = (avoid: ReadonlySet<string>, allowed = permits.allowsLane): Placement[] =>
    chooseLanes(request, { ...rules, permits: allowed }, workers.pools(), avoid);
  const explainNone = (waits: WaitsForWorker): NoLane | undefined =>
    explainNoLane(name, request, rules, { pools: workers.pools(), lostPools: workers.lostPools(), ...waits });
  if (
    permits.isRestricted &&
    findPlacements(noWorkers).length === 0 &&
    findPlacements(noWorkers, () => true).length > 0
  )
    throw modelDeniedError(name);
  return { name, model, permits, place: (avoid) => findPlacements(avoid), explainNone };
}
