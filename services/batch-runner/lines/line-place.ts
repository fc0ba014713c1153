import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import type { Placement } from '#shared/broker/dispatch/workers/live-pool.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { ModelOperation } from '#shared/core/operation.ts';
import { noPurpose } from '#shared/core/purpose.ts';
import type { Tier } from '#shared/core/tier.ts';
import type { ModelBreakers } from '../slots/model-breakers.ts';
import type { UpstreamLimit } from '../slots/upstream-limit.ts';
import { findLanes } from '#shared/serving/find-lanes.ts';
import type { RequestParameters } from '#shared/formats/client-format.ts';
import type { ServingComponents } from '#shared/serving/serve-model.ts';

/** Places where a line could be served right now. */
export interface LinePlace {
  /** Name of the requested model; undefined while the line must not be served, whatever workers there are. */
  model?: string | undefined;
  placements: readonly Placement[];
  /** Tiers that may serve the line once they have a worker for it; empty while there are placements. */
  tiers: readonly Tier[];
  limit?: UpstreamLimit | undefined;
  /**
   * Returns a text for the owner of the batch about why no worker can serve the line now. Undefined if a worker can, or if `limit` is set.
   */
  explainLack?: () => string;
}

/** A line without its body. The body may be large, and the line may be kept after its request has ended. */
export interface WaitingLine {
  parameters: RequestParameters;
  operation: ModelOperation;
  /** Name of the client format. */
  format: string;
  identity: KeyIdentity;
  /** A model known to exist although no worker may have served it since this process began. */
  knownModel: string | undefined;
}

/**
 * Finds where a line could be served now. The result may change while the line waits, because names, rules and permits change.
 * @throws RouterError as `findLanes` does, except `model_not_found` for a model whose workers may be about to start
 */
export function findLinePlace(
  parts: Pick<ServingComponents, 'workers' | 'registry' | 'priceOf' | 'noWorkerMs'> & {
    breakers: Pick<ModelBreakers, 'findLimit' | 'mayBegin'>;
  },
  line: WaitingLine,
): LinePlace {
  const { breakers, noWorkerMs } = parts;
  try {
    const lanes = findLanes(parts, line, line.identity, noPurpose);
    const { name } = lanes;
    if (!breakers.mayBegin(name)) return { placements: [], tiers: [], limit: breakers.findLimit(name) };
    const placements = lanes.findPlacements();
    if (placements.length > 0) return { model: name, placements, tiers: [] };
    const waits = { noWorkerMs, maxWaitMs: undefined };
    const explainLack = (): string => lanes.explainNone(waits)?.error.message ?? describeNoWorker(name);
    return { placements, tiers: lanes.findTiers(), explainLack };
  } catch (error) {
    if (error instanceof RouterError && error.code === 'model_not_found' && mayExist(parts, line, error))
      return { placements: [], tiers: [], explainLack: () => describeNoWorker(line.parameters.model) };
    throw error;
  }
}

function describeNoWorker(model: string): string {
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
