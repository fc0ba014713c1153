import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import { noWorkers, type Placement } from '#shared/broker/dispatch/workers/live-pool.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { Tier } from '#shared/core/tier.ts';
import type { ModelBreakers } from '../slots/model-breakers.ts';
import type { UpstreamLimit } from '../slots/upstream-limit.ts';
import { findLanes, type LanesRequest } from '#shared/serving/find-lanes.ts';
import type { ServingComponents } from '#shared/serving/serve-model.ts';
import { findTiers } from '#shared/serving/find-tiers.ts';

/** Places where a line could be served right now. */
export interface LinePlace {
  /** Name of the requested model; undefined while the line must not be served, whatever workers there are. */
  model?: string | undefined;
  placements: readonly Placement[];
  /** Tiers that may serve the line once they have a worker for it; empty while there are placements. */
  tiers: readonly Tier[];
  limit?: UpstreamLimit | undefined;
  /** Returns a text for the owner of the batch that says why no worker can serve the line now; undefined if one can, or `limit` is set. */
  lacks?: () => string;
}

export interface WaitingLine {
  lanesRequest: LanesRequest;
  identity: KeyIdentity;
  /** A model known to exist although no worker may have served it since this process began. */
  knownModel: string | undefined;
}

/**
 * Finds where a line could be served now. The result may change while the line waits, as names, rules and permits change.
 * @throws RouterError as `findLanes` does, except `model_not_found` for a model whose workers may be about to start
 */
export function findLinePlace(
  parts: Pick<ServingComponents, 'workers' | 'registry' | 'priceOf' | 'noWorkerMs'> & {
    breakers: Pick<ModelBreakers, 'findLimit' | 'mayBegin'>;
  },
  line: WaitingLine,
): LinePlace {
  const { workers, registry, breakers, noWorkerMs } = parts;
  try {
    const { name, model, permits, place, explainNone } = findLanes(parts, line.lanesRequest, line.identity);
    if (!breakers.mayBegin(name)) return { placements: [], tiers: [], limit: breakers.findLimit(name) };
    const placements = place(noWorkers);
    if (placements.length > 0) return { model: name, placements, tiers: [] };
    const tiers = findTiers(model, { auto: registry().auto, workers, permits, placements });
    const lacks = (): string => explainNone({ noWorkerMs, maxWaitMs: undefined })?.error.message ?? noWorker(name);
    return { placements, tiers, lacks };
  } catch (error) {
    if (error instanceof RouterError && error.code === 'model_not_found' && mayExist(parts, line, error))
      return { placements: [], tiers: [], lacks: () => noWorker(line.lanesRequest.parameters.model) };
    throw error;
  }
}

function noWorker(model: string): string {
  return `No connected worker serves \`${model}\`.`;
}

/** Returns whether a model may exist, because it is known or because no worker has reported models yet. */
function mayExist(
  { workers }: Pick<ServingComponents, 'workers'>,
  { knownModel }: WaitingLine,
  { details }: RouterError,
): boolean {
  const model = details?.['model'];
  return (
    (model !== undefined && model === knownModel) || [...workers.pools()].every(({ models }) => models.length === 0)
  );
}
