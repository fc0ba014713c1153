import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import type { RequestParameters } from '#shared/formats/client-format.ts';
import type { Registry } from '#shared/registry/registry.ts';

/**
 * Returns the model name of a request. An alias under which a model list shows another model stands for that model, unless a model or
 * the registry uses the alias as its own name.
 */
export function resolveRequestedName(
  { model, nameBehind }: Pick<RequestParameters, 'model' | 'nameBehind'>,
  models: Registry['models'],
  workers: Pick<LiveWorkers, 'isKnownModel'>,
): string {
  if (nameBehind === undefined || Object.hasOwn(models, model) || workers.isKnownModel(model)) return model;
  return nameBehind;
}
