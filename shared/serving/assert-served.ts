import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import { RouterError } from '#shared/core/errors.ts';
import { does, type Operation } from '#shared/core/operation.ts';
import type { RegistryTarget } from '#shared/registry/registry.ts';
import { modelNotFound, type ResolvedModel } from './resolve-model.ts';

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
  const served = servedBy(model.targets, operation, workers);
  if (served === 'otherwise') throw wrongOperation(name, operation);
  if (served === 'never' && !model.isRegistered && !workers.isKnownModel(name)) throw modelNotFound(name);
}

/**
 * Returns `here` if a target does the operation, `otherwise` if targets are served only for other operations, `never` if no target is
 * served right now.
 */
function servedBy(
  targets: readonly RegistryTarget[],
  operation: Operation,
  workers: Pick<LiveWorkers, 'pools'>,
): 'here' | 'otherwise' | 'never' {
  let served: 'otherwise' | 'never' = 'never';
  for (const pool of workers.pools()) {
    for (const { model: id, tier } of targets) {
      const model = tier === undefined || tier === pool.tier ? pool.models.find((each) => each.id === id) : undefined;
      if (model && does(model, operation)) return 'here';
      if (model) served = 'otherwise';
    }
  }
  return served;
}

function wrongOperation(name: string, operation: Operation): RouterError {
  const what = unsupportedPhrases[operation] ?? 'generates no answers';
  return new RouterError('invalid_request', `Invalid value for 'model': \`${name}\` ${what}.`, { param: 'model' });
}
