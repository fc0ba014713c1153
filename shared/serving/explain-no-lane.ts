import { isLimited, type ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { LivePool } from '#shared/broker/dispatch/workers/live-worker.ts';
import { RouterError } from '#shared/core/errors.ts';
import { canDo } from '#shared/core/operation.ts';
import { createRejectionDetails } from '#shared/formats/rejected-capability.ts';
import type { Registry } from '#shared/registry/registry.ts';
import { isAllowed, type LaneChoice } from './choose-lanes.ts';
import {
  toRejectedCapability,
  hasAllCapabilities,
  describeCapability,
  findRequiredCapabilities,
} from './required-capabilities.ts';

/** If `noWorkerMs` is above this number, the operator presumably starts workers on demand. */
const onDemandMs = 60_000;

/** Seconds for `Retry-After` if the time at which a worker comes is unknown. */
const defaultRetrySeconds = 10;

export interface NoLane {
  error: RouterError;
  /** Whether the request waits nevertheless, because a worker may connect, or take jobs again, in time. */
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
  /** Pools that have lost their last worker within the last minute. The worker may come back. */
  lostPools: Iterable<LivePool>;
}

interface PoolModel {
  pool: LivePool;
  model: ModelInfo;
}

/**
 * Explains why no pool can serve a request now. Call it if `chooseLanes` finds no pool. Returns undefined if the only known reason is the
 * lack of a worker.
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
  const ableModels = poolModels.filter(canServe);
  if (ableModels.length > 0) return explainNoneAccepts(ableModels, Math.min(noWorkerMs, maxWaitMs));
  const waits = noWorkerMs > onDemandMs || findPoolModels(lostPools, choice).some(canServe);
  if (model.kind === 'named') {
    const targets = model.targets.map(({ model: id }) => `\`${id}\``).join(' or ');
    return model.isRegistered
      ? { waits, error: createUnavailableError(`No connected worker serves ${targets}, which \`${name}\` stands for.`) }
      : undefined;
  }
  if (poolModels.length === 0) return undefined;
  const allowedModels = poolModels.filter(allows);
  if (allowedModels.length === 0) {
    const message = `\`${name}\` may choose none of the connected models: ${listAutoLimits(auto)} of the registry leaves all of them out.`;
    return { waits, error: createUnavailableError(message) };
  }
  const unmetCapabilities = required.filter(
    (each) => !allowedModels.some(({ model: allowedModel }) => hasAllCapabilities(allowedModel, [each])),
  );
  const missingParts = (unmetCapabilities.length > 0 ? unmetCapabilities : required)
    .map(describeCapability)
    .join(' and ');
  const rejected = unmetCapabilities.flatMap((each) => toRejectedCapability(each) ?? [])[0];
  const error = new RouterError('unsupported_parameter', `No connected model takes ${missingParts}.`, {
    param: 'model',
    details: rejected && createRejectionDetails(rejected),
  });
  return { waits, error };
}

/** Returns the models in these pools that do the operation, and that both the key and the requested name permit. */
function findPoolModels(
  pools: Iterable<LivePool>,
  { model, operation, format, auto, permits }: LaneChoice,
): PoolModel[] {
  const isPermitted = ({ tier }: LivePool, id: string): boolean =>
    model.kind === 'auto'
      ? auto.tiers.some((each) => each === tier) && permits(tier, id)
      : permits(tier) && model.targets.some((target) => target.model === id && (target.tier ?? tier) === tier);
  return [...pools]
    .filter(({ formats }) => formats.includes(format))
    .flatMap((pool) => pool.models.map((each): PoolModel => ({ pool, model: each })))
    .filter((poolModel) => canDo(poolModel.model, operation) && isPermitted(poolModel.pool, poolModel.model.id));
}

/**
 * Explains why no worker with an able model takes the request now. The request does not wait if all workers report when they take jobs
 * again, and the earliest of these times is too late.
 */
function explainNoneAccepts(poolModels: readonly PoolModel[], maxMs: number): NoLane {
  const workers = poolModels.flatMap(({ pool }) => Array.from(pool.workers, ({ announcement }) => announcement));
  const firstResumesAt = Math.min(...workers.map(({ resumesAt }) => resumesAt ?? 0));
  const waitMs = Math.max(0, firstResumesAt - Date.now());
  const waits = waitMs <= maxMs;
  const retryAfter = waitMs === 0 ? defaultRetrySeconds : Math.ceil(waitMs / 1000);
  const workerWithoutLimit = workers.find(({ reason }) => !isLimited(reason));
  if (workerWithoutLimit) {
    const message = `The workers that can serve this request take none now: ${workerWithoutLimit.reason ?? 'they are drained'}.`;
    return { waits, error: createUnavailableError(message, retryAfter) };
  }
  const message = 'Every upstream that can serve this request limits its rate.';
  return { waits, error: new RouterError('rate_limit_exceeded', message, { retryAfter }) };
}

function listAutoLimits({ only, except, max_cost: maxCost }: Registry['auto']): string {
  const names = [only && 'only', except.length > 0 && 'except', maxCost !== undefined && 'max_cost'];
  return names.flatMap((each) => (each === undefined || each === false ? [] : `\`auto.${each}\``)).join(' or ');
}

function createUnavailableError(message: string, retryAfter = defaultRetrySeconds): RouterError {
  return new RouterError('no_worker_available', message, { retryAfter });
}
