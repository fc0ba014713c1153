import type { Json } from '#shared/core/json.ts';
import type { Registry, RegistryTarget } from '#shared/registry/registry.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { PriorityClass } from '#shared/core/priority-class.ts';
import { autoModel, type RequestParameters } from '#shared/formats/client-format.ts';
import { noPurpose, type RequestPurpose } from '#shared/core/purpose.ts';
import { findRule, type RoutingRule } from './find-rule.ts';
import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';

/** The defaults of a model that is requested under its own name: no field is added to the request. */
export const noDefaults: Readonly<Record<string, Json>> = {};

const neverHedged: readonly PriorityClass[] = [];

export type ResolvedModel =
  | {
      kind: 'auto';
      /** The rule that applies. Its able targets come before all other models. */
      rule?: RoutingRule | undefined;
    }
  | {
      kind: 'named';
      /** The registry path of the rule that gave the targets; undefined if no rule applies. */
      rule?: string | undefined;
      targets: readonly RegistryTarget[];
      /** Whether the name is in the registry, so that it exists even if no worker serves it. */
      isRegistered: boolean;
      /** Fields that are added to requests that lack them. */
      defaults: Readonly<Record<string, Json>>;
      hedge: readonly PriorityClass[];
    };

/**
 * Resolves a model name: `auto`, a registry name, or a model's own id. If a rule applies to the request, a registry name stands for the
 * rule's targets. Weighted targets are drawn once per request, so that all attempts use the same order.
 * @param random returns a number from 0 (inclusive) to 1 (exclusive)
 */
export function resolveModel(
  name: string,
  { models, auto }: Pick<Registry, 'models' | 'auto'>,
  purpose: RequestPurpose = noPurpose,
  random: () => number = Math.random,
): ResolvedModel {
  if (name === autoModel) {
    const rule = findRule(auto, purpose, autoModel);
    return { kind: 'auto', rule: rule && { ...rule, targets: drawTargetOrder(rule.targets, random) } };
  }
  const entry = Object.hasOwn(models, name) ? models[name] : undefined;
  if (!entry) {
    const targets = [{ model: name }];
    return { kind: 'named', rule: undefined, targets, isRegistered: false, defaults: noDefaults, hedge: neverHedged };
  }
  const { defaults, hedge } = entry;
  const rule = findRule(entry, purpose, `models.${name}`);
  const targets = drawTargetOrder(rule?.targets ?? entry.targets, random);
  return { kind: 'named', rule: rule?.path, targets, isRegistered: true, defaults, hedge };
}

/** Returns the targets in order. In each sequence of weighted targets, a target that is drawn at random comes first. */
export function drawTargetOrder(targets: readonly RegistryTarget[], random: () => number): readonly RegistryTarget[] {
  if (targets.every(({ weight }) => weight === undefined)) return targets;
  const ordered: RegistryTarget[] = [];
  let weighted: RegistryTarget[] = [];
  for (const target of [...targets, undefined]) {
    if (target?.weight !== undefined) {
      weighted.push(target);
      continue;
    }
    ordered.push(...drawFirst(weighted, random));
    weighted = [];
    if (target) ordered.push(target);
  }
  return ordered;
}

function drawFirst(weighted: readonly RegistryTarget[], random: () => number): RegistryTarget[] {
  const total = weighted.reduce((sum, { weight = 0 }) => sum + weight, 0);
  let weightLeft = random() * total;
  const drawnTarget = weighted.find(({ weight = 0 }) => (weightLeft -= weight) < 0) ?? weighted[0];
  return drawnTarget ? [drawnTarget, ...weighted.filter((target) => target !== drawnTarget)] : [];
}

export function createModelNotFoundError(model: string): RouterError {
  return new RouterError('model_not_found', `The model \`${model}\` does not exist or you do not have access to it.`, {
    param: 'model',
    details: { error_code: 'model_not_found', model },
  });
}

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
