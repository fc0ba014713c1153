import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import type { RequestParameters } from '#shared/formats/client-format.ts';
import type { Registry } from '#shared/registry/registry.ts';

/**
 * Returns the model name of a request. Resolves an alias from a model list to the name of its model. A model or registry entry that is
 * named like the alias takes precedence.
 */
export function resolveRequestedName(
  { model, nameBehind }: Pick<RequestParameters, 'model' | 'nameBehind'>,
  models: Registry['models'],
  workers: Pick<LiveWorkers, 'isKnownModel'>,
): string {
  if (nameBehind === undefined || Object.hasOwn(models, model) || workers.isKnownModel(model)) return model;
  return nameBehind;
}
