import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import { RouterError } from '#shared/core/errors.ts';
import { canDo, type Operation } from '#shared/core/operation.ts';
import type { RegistryTarget } from '#shared/registry/registry.ts';
import { createModelNotFoundError, type ResolvedModel } from './resolve-model.ts';

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
 * Refuses a request with an unknown model name, or with a name that stands only for models of other operations. Waiting would not help such
 * a request. Accepts a model that may do the operation as soon as a worker serves it.
 * @throws RouterError `model_not_found`; `invalid_request` if all models behind the name do only other operations
 */
export function assertServed(
  model: ResolvedModel,
  name: string,
  operation: Operation,
  workers: Pick<LiveWorkers, 'pools' | 'isKnownModel'>,
): void {
  if (model.kind === 'auto') return;
  const service = findService(model.targets, operation, workers);
  if (service === 'unable') throw createWrongOperationError(name, operation);
  if (service === 'unserved' && !model.isRegistered && !workers.isKnownModel(name))
    throw createModelNotFoundError(name);
}

/**
 * Returns `able` if a worker serves a target that does the operation, `unable` if workers serve only targets that do other operations, and
 * `unserved` if no worker serves a target now.
 */
function findService(
  targets: readonly RegistryTarget[],
  operation: Operation,
  workers: Pick<LiveWorkers, 'pools'>,
): 'able' | 'unable' | 'unserved' {
  let service: 'unable' | 'unserved' = 'unserved';
  for (const pool of workers.pools()) {
    for (const { model: id, tier } of targets) {
      const model = tier === undefined || tier === pool.tier ? pool.models.find((each) => each.id === id) : undefined;
      if (model && canDo(model, operation)) return 'able';
      if (model) service = 'unable';
    }
  }
  return service;
}

function createWrongOperationError(name: string, operation: Operation): RouterError {
  const phrase = unsupportedPhrases[operation] ?? 'generates no answers';
  return new RouterError('invalid_request', `Invalid value for 'model': \`${name}\` ${phrase}.`, { param: 'model' });
}
