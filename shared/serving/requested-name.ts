import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import type { RequestParameters } from '#shared/formats/client-format.ts';
import type { Registry } from '#shared/registry/registry.ts';

/**
 * The name that a request asks for. A name under which a list of models shows another one stands for that one, unless a model
 * or the registry has it itself.
 */
export function requestedName(
  { model, nameBehind }: Pick<RequestParameters, 'model' | 'nameBehind'>,
  models: Registry['models'],
  workers: Pick<LiveWorkers, 'isKnownModel'>,
): string {
  if (nameBehind === undefined || Object.hasOwn(models, model) || workers.isKnownModel(model)) return model;
  return nameBehind;
}
