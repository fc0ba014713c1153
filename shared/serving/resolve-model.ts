import type { Json } from '#shared/core/json.ts';
import type { Registry, RegistryTarget } from '#shared/registry/registry.ts';
import { RouterError } from '#shared/core/errors.ts';

/** The name that stands for any able model. */
export const autoModel = 'auto';

/** What a request's model name stands for. */
export type ResolvedModel =
  | { kind: 'auto' }
  | {
      kind: 'named';
      targets: readonly RegistryTarget[];
      /** Whether the name is one of the registry: such a name is known even while nobody serves it. */
      isRegistered: boolean;
      /** Fields for requests that lack them. */
      defaults: Readonly<Record<string, Json>>;
    };

/**
 * What a model name stands for: `auto`, a name of the registry, or a model itself.
 * Drawn by weight once for each request, so that all its attempts go by the same order.
 * @param random a number from 0 up to 1
 */
export function resolveModel(
  name: string,
  models: Registry['models'],
  random: () => number = Math.random,
): ResolvedModel {
  if (name === autoModel) return { kind: 'auto' };
  const entry = Object.hasOwn(models, name) ? models[name] : undefined;
  if (!entry) return { kind: 'named', targets: [{ model: name }], isRegistered: false, defaults: {} };
  return { kind: 'named', targets: drawOrder(entry.targets, random), isRegistered: true, defaults: entry.defaults };
}

/** The targets in order, but in each run of neighbours that have a weight a drawn one stands first. */
export function drawOrder(targets: readonly RegistryTarget[], random: () => number): RegistryTarget[] {
  const ordered: RegistryTarget[] = [];
  let run: RegistryTarget[] = [];
  for (const target of [...targets, undefined]) {
    if (target?.weight !== undefined) {
      run.push(target);
      continue;
    }
    ordered.push(...drawFirst(run, random));
    run = [];
    if (target) ordered.push(target);
  }
  return ordered;
}

function drawFirst(run: readonly RegistryTarget[], random: () => number): RegistryTarget[] {
  const total = run.reduce((sum, { weight = 0 }) => sum + weight, 0);
  let left = random() * total;
  const drawn = run.find(({ weight = 0 }) => (left -= weight) < 0) ?? run[0];
  return drawn ? [drawn, ...run.filter((target) => target !== drawn)] : [];
}

/** The error for a model that no worker and no registry entry knows. */
export function modelNotFound(model: string): RouterError {
  return new RouterError('model_not_found', `The model \`${model}\` does not exist or you do not have access to it.`, {
    param: 'model',
    details: { error_code: 'model_not_found', model },
  });
}
