import { isLimited, type ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { LivePool } from '#shared/broker/dispatch/workers/live-pool.ts';
import { RouterError } from '#shared/core/errors.ts';
import { does } from '#shared/core/operation.ts';
import { rejectionDetails } from '#shared/formats/rejected-capability.ts';
import type { Registry } from '#shared/registry/registry.ts';
import { isAllowed, type LaneRequest, type LaneRules } from './choose-lanes.ts';
import { toRejectedCapability, hasAll, describeCapability, requiredCapabilities } from './required-capabilities.ts';

/** Milliseconds of `noWorkerMs` above which the operator is assumed to start workers on demand. */
const startMs = 60_000;

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
  /** The client's limit; undefined if it sets none. */
  maxWaitMs: number | undefined;
}

export interface NoLaneParts extends WaitsForWorker {
  pools: Iterable<LivePool>;
  /** Pools whose last worker left within the last minute; it may come back. */
  lostPools: Iterable<LivePool>;
}

interface Offer {
  pool: LivePool;
  model: ModelInfo;
}

/**
 * Explains why no pool can serve a request now. Call it if `chooseLanes` finds none. Undefined if nothing is known except that there is
 * no worker.
 * @param name the model's name, as the client writes it
 */
export function explainNoLane(
  name: string,
  request: LaneRequest,
  rules: LaneRules,
  { pools, lostPools, noWorkerMs, maxWaitMs = noWorkerMs }: NoLaneParts,
): NoLane | undefined {
  const { model, needs, format } = request;
  const { auto, priceOf } = rules;
  const required = model.kind === 'auto' ? requiredCapabilities(needs, format) : [];
  const allows = ({ pool, model: { id } }: Offer): boolean =>
    model.kind === 'named' || isAllowed(id, pool.tier, auto, priceOf);
  const canServe = (offer: Offer): boolean => allows(offer) && hasAll(offer.model, required);

  const offers = offersOf(pools, request, rules);
  const able = offers.filter(canServe);
  if (able.length > 0) return whyNoneAccepts(able, Math.min(noWorkerMs, maxWaitMs));
  const waits = noWorkerMs > startMs || offersOf(lostPools, request, rules).some(canServe);
  if (model.kind === 'named') {
    const targets = model.targets.map(({ model: id }) => `\`${id}\``).join(' or ');
    return model.isRegistered
      ? { waits, error: unavailable(`No connected worker serves ${targets}, which \`${name}\` stands for.`) }
      : undefined;
  }
  if (offers.length === 0) return undefined;
  const allowed = offers.filter(allows);
  if (allowed.length === 0) {
    const message = `\`${name}\` may choose none of the connected models: ${limitsOf(auto)} of the registry leaves all of them out.`;
    return { waits, error: unavailable(message) };
  }
  const unmet = required.filter((each) => !allowed.some((offer) => hasAll(offer.model, [each])));
  const what = (unmet.length > 0 ? unmet : required).map(describeCapability).join(' and ');
  const rejected = unmet.flatMap((each) => toRejectedCapability(each) ?? [])[0];
  const error = new RouterError('unsupported_parameter', `No connected model takes ${what}.`, {
    param: 'model',
    details: rejected && rejectionDetails(rejected),
  });
  return { waits, error };
}

/** Returns the models of these pools that the request may go to, whatever else they can do. */
function offersOf(
  pools: Iterable<LivePool>,
  { model, operation, format }: LaneRequest,
  { auto, permits }: LaneRules,
): Offer[] {
  const isMeant = ({ tier }: LivePool, id: string): boolean =>
    model.kind === 'auto'
      ? auto.tiers.some((each) => each === tier) && permits(tier, id)
      : permits(tier) && model.targets.some((target) => target.model === id && (target.tier ?? tier) === tier);
  return [...pools]
    .filter(({ formats }) => formats.includes(format))
    .flatMap((pool) => pool.models.map((each): Offer => ({ pool, model: each })))
    .filter((offer) => does(offer.model, operation) && isMeant(offer.pool, offer.model.id));
}

/** Decides against a wait only if all workers report when they take jobs again, and the first of these times is too late. */
function whyNoneAccepts(offers: readonly Offer[], maxMs: number): NoLane {
  const workers = offers.flatMap(({ pool }) => Array.from(pool.workers, ({ announcement }) => announcement));
  const resumes = Math.min(...workers.map(({ resumesAt }) => resumesAt ?? 0));
  const waitMs = Math.max(0, resumes - Date.now());
  const waits = waitMs <= maxMs;
  const retryAfter = waitMs === 0 ? askAgainSeconds : Math.ceil(waitMs / 1000);
  const other = workers.find(({ reason }) => !isLimited(reason));
  if (other) {
    const message = `The workers that can serve this request take none now: ${other.reason ?? 'they are drained'}.`;
    return { waits, error: unavailable(message, retryAfter) };
  }
  const message = 'Every upstream that can serve this request limits its rate.';
  return { waits, error: new RouterError('rate_limit_exceeded', message, { retryAfter }) };
}

function limitsOf({ only, except, max_cost: maxCost }: Registry['auto']): string {
  const names = [only && 'only', except.length > 0 && 'except', maxCost !== undefined && 'max_cost'];
  return names.flatMap((each) => (each === undefined || each === false ? [] : `\`auto.${each}\``)).join(' or ');
}

function unavailable(message: string, retryAfter = askAgainSeconds): RouterError {
  return new RouterError('no_worker_available', message, { retryAfter });
}
