import { isLimited, type ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { LivePool } from '#shared/broker/dispatch/workers/live-worker.ts';
import { RouterError } from '#shared/core/errors.ts';
import { canDo } from '#shared/core/operation.ts';
import { rejectionDetails } from '#shared/formats/rejected-capability.ts';
import type { Registry } from '#shared/registry/registry.ts';
import { isAllowed, type LaneChoice } from './choose-lanes.ts';
import {
  toRejectedCapability,
  hasAllCapabilities,
  describeCapability,
  findRequiredCapabilities,
} from './required-capabilities.ts';

/** If `noWorkerMs` is above this number, the operator is assumed to start workers on demand. */
const onDemandMs = 60_000;

/** Seconds for `Retry-After` if it is unknown when a worker comes. */
const askAgainSeconds = 10;

export interface NoLane {
  error: RouterError;
  /** Whether the request waits for a worker anyway, because a worker may come, or take jobs again, in time. */
  waits: boolean;
}

/** Milliseconds that a request waits while no worker can serve it. */
export interface WaitsForWorker {
  /** The operator's limit. */
  noWorkerMs: number;
  /** The client's limit; undefined if the client sets none. */
  maxWaitMs: number | undefined;
}

export interface NoLaneParts extends WaitsForWorker {
  pools: Iterable<LivePool>;
  /** Pools whose last worker left within the last minute, and may come back. */
  lostPools: Iterable<LivePool>;
}

interface PoolModel {
  pool: LivePool;
  model: ModelInfo;
}

/**
 * Explains why no pool can serve a request now. To be called if `chooseLanes` finds no pool. Returns undefined if nothing is known except
 * that there is no worker.
 * @param name the model's name, as the client writes it
 */
export function explainNoLane(
  name: string,
  choice: LaneChoice,
  { pools, lostPools, noWorkerMs, maxWaitMs = noWorkerMs }: NoLaneParts,
): NoLane | undefined {
  const { model, needs, format, auto, priceOf } = choice;
  const required = model.kind === 'auto' ? findRequiredCapabilities(needs, format) : [];
  const allows = ({ pool, model: { id } }: PoolModel): boolean =>
    model.kind === 'named' || isAllowed(id, pool.tier, auto, priceOf);
  const canServe = (poolModel: PoolModel): boolean =>
    allows(poolModel) && hasAllCapabilities(poolModel.model, required);

  const poolModels = findPoolModels(pools, choice);
  const able = poolModels.filter(canServe);
  if (able.length > 0) return explainNoneAccepts(able, Math.min(noWorkerMs, maxWaitMs));
  const waits = noWorkerMs > onDemandMs || findPoolModels(lostPools, choice).some(canServe);
  if (model.kind === 'named') {
    const targets = model.targets.map(({ model: id }) => `\`${id}\``).join(' or ');
    return model.isRegistered
      ? { waits, error: unavailableError(`No connected worker serves ${targets}, which \`${name}\` stands for.`) }
      : undefined;
  }
  if (poolModels.length === 0) return undefined;
  const allowedModels = poolModels.filter(allows);
  if (allowedModels.length === 0) {
    const message = `\`${name}\` may choose none of the connected models: ${nameAutoLimits(auto)} of the registry leaves all of them out.`;
    return { waits, error: unavailableError(message) };
  }
  const unmetCapabilities = required.filter(
    (each) => !allowedModels.some((offer) => hasAllCapabilities(offer.model, [each])),
  );
  const what = (unmetCapabilities.length > 0 ? unmetCapabilities : required).map(describeCapability).join(' and ');
  const rejected = unmetCapabilities.flatMap((each) => toRejectedCapability(each) ?? [])[0];
  const error = new RouterError('unsupported_parameter', `No connected model takes ${what}.`, {
    param: 'model',
    details: rejected && rejectionDetails(rejected),
  });
  return { waits, error };
}

/** Returns the models of these pools that do the operation and to which the key and the name permit the request. */
function findPoolModels(
  pools: Iterable<LivePool>,
  { model, operation, format, auto, permits }: LaneChoice,
): PoolModel[] {
  const isMeant = ({ tier }: LivePool, id: string): boolean =>
    model.kind === 'auto'
      ? auto.tiers.some((each) => each === tier) && permits(tier, id)
      : permits(tier) && model.targets.some((target) => target.model === id && (target.tier ?? tier) === tier);
  return [...pools]
    .filter(({ formats }) => formats.includes(format))
    .flatMap((pool) => pool.models.map((each): PoolModel => ({ pool, model: each })))
    .filter((offer) => canDo(offer.model, operation) && isMeant(offer.pool, offer.model.id));
}

/**
 * Explains why none of the workers that have an able model takes the request now. The request waits unless all workers report when they
 * take jobs again, and the first of these times is too late.
 */
function explainNoneAccepts(poolModels: readonly PoolModel[], maxMs: number): NoLane {
  const workers = poolModels.flatMap(({ pool }) => Array.from(pool.workers, ({ announcement }) => announcement));
  const firstResumesAt = Math.min(...workers.map(({ resumesAt }) => resumesAt ?? 0));
  const waitMs = Math.max(0, firstResumesAt - Date.now());
  const waits = waitMs <= maxMs;
  const retryAfter = waitMs === 0 ? askAgainSeconds : Math.ceil(waitMs / 1000);
  const unlimited = workers.find(({ reason }) => !isLimited(reason));
  if (unlimited) {
    const message = `The workers that can serve this request take none now: ${unlimited.reason ?? 'they are drained'}.`;
    return { waits, error: unavailableError(message, retryAfter) };
  }
  const message = 'Every upstream that can serve this request limits its rate.';
  return { waits, error: new RouterError('rate_limit_exceeded', message, { retryAfter }) };
}

function nameAutoLimits({ only, except, max_cost: maxCost }: Registry['auto']): string {
  const names = [only && 'only', except.length > 0 && 'except', maxCost !== undefined && 'max_cost'];
  return names.flatMap((each) => (each === undefined || each === false ? [] : `\`auto.${each}\``)).join(' or ');
}

function unavailableError(message: string, retryAfter = askAgainSeconds): RouterError {
  return new RouterError('no_worker_available', message, { retryAfter });
}
