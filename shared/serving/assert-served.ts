import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import { RouterError } from '#shared/core/errors.ts';
import { does, type Operation } from '#shared/core/operation.ts';
import type { RegistryTarget } from '#shared/registry/registry.ts';
import { modelNotFound, type ResolvedModel } from './resolve-model.ts';

/** What requests ask of models, as an error says it. */
const wants: Partial<Record<Operation, string>> = {
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
 * Assures that a request for a name need not wait in vain: the name is known, and a model behind it does what the request asks, or
 * may do it once a worker serves it.
 * @throws RouterError `model_not_found`; `invalid_request` if only models stand behind it that do something else
 */
export function assertServed(
  model: ResolvedModel,
  name: string,
  operation: Operation,
  workers: Pick<LiveWorkers, 'pools' | 'isKnownModel'>,
): void {
  if (model.kind === 'auto') return;
  const served = servedBy(model.targets, operation, workers);
  if (served === 'otherwise') throw doesOtherwise(name, operation);
  if (served === 'never' && !model.isRegistered && !workers.isKnownModel(name)) throw modelNotFound(name);
}

/** Whether any of the targets does it, or they are served only for something else, or not at all right now. */
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

function doesOtherwise(name: string, operation: Operation): RouterError {
  const what = wants[operation] ?? 'generates no answers';
  return new RouterError('invalid_request', `Invalid value for 'model': \`${name}\` ${what}.`, { param: 'model' });
}
