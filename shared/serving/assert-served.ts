import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import { RouterError } from '#shared/core/errors.ts';
import { canDo, type Operation } from '#shared/core/operation.ts';
import type { RegistryTarget } from '#shared/registry/registry.ts';
import { modelNotFoundError, type ResolvedModel } from './resolve-model.ts';

/** Phrases for error messages about a model that cannot do an operation. */
const unsupportedPhrases: Partial<Record<Operation, string>> = {
  complete: 'does not continue texts',
  embed: 'gives no embeddings',
  rank: 'ranks no documents',
  moderate: 'judges no texts',
  draw: 'makes no pictures',
  redraw: 'changes no pictures',
  speak: 'does not speak',
  transcribe: 'writes down no sound',
  translate: 'translates no sound',
};

/**
 * Refuses a request for a name that is unknown, or whose models do only other operations, because waiting would not help. Accepts a model
 * that may do the operation as soon as a worker serves it.
 * @throws RouterError `model_not_found`; `invalid_request` if all models behind the name do only other operations
 */
export function assertServed(
  model: ResolvedModel,
  name: string,
  operation: Operation,
  workers: Pick<LiveWorkers, 'pools' | 'isKnownModel'>,
): void {
  if (model.kind === 'auto') return;
  const served = findService(model.targets, operation, workers);
  if (served === 'unable') throw wrongOperationError(name, operation);
  if (served === 'unserved' && !model.isRegistered && !workers.isKnownModel(name)) throw modelNotFoundError(name);
}

/**
 * Returns `able` if a worker serves a target for the operation, `unable` if workers serve targets only for other operations, `unserved` if
 * no worker serves a target right now.
 */
function findService(
  targets: readonly RegistryTarget[],
  operation: Operation,
  workers: Pick<LiveWorkers, 'pools'>,
): 'able' | 'unable' | 'unserved' {
  let served: 'unable' | 'unserved' = 'unserved';
  for (const pool of workers.pools()) {
    for (const { model: id, tier } of targets) {
      const model = tier === undefined || tier === pool.tier ? pool.models.find((each) => each.id === id) : undefined;
      if (model && canDo(model, operation)) return 'able';
      if (model) served = 'unable';
    }
  }
  return served;
}

function wrongOperationError(name: string, operation: Operation): RouterError {
  const what = unsupportedPhrases[operation] ?? 'generates no answers';
  return new RouterError('invalid_request', `Invalid value for 'model': \`${name}\` ${what}.`, { param: 'model' });
}
