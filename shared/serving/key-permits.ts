import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { Tier } from '#shared/core/tier.ts';
import { autoModel } from '#shared/formats/client-format.ts';

export interface KeyPermits {
  /** Whether the key or its owner has a list of permitted models or tiers. */
  isRestricted: boolean;
  allowsName: (name: string) => boolean;
  /** Whether a tier and, for `auto`, one of its models may serve a request. */
  allowsLane: (tier: Tier, model?: string) => boolean;
}

const allPermits: KeyPermits = { isRestricted: false, allowsName: () => true, allowsLane: () => true };

/**
 * Reads the permits of a key, limited by the permits of its owner. `auto` is always permitted. `auto` chooses among the models of the key's
 * list, or among all models if the list contains `auto`. A registry name in the list is permitted with all of its targets.
 */
export function readKeyPermits({
  models,
  ownerModels = [],
  tiers,
}: Pick<KeyIdentity, 'models' | 'ownerModels' | 'tiers'>): KeyPermits {
  if (models === undefined && ownerModels.length === 0 && tiers === undefined) return allPermits;
  const lists = models === undefined ? ownerModels : [models, ...ownerModels];
  // A list that contains `auto` does not restrict the choices of `auto`.
  const choices = lists.filter((list) => !list.includes(autoModel));
  return {
    isRestricted: lists.length > 0 || tiers !== undefined,
    allowsName: (name) => name === autoModel || lists.every((list) => list.includes(name)),
    allowsLane: (tier, model) =>
      (tiers === undefined || tiers.includes(tier)) &&
      (model === undefined || choices.every((list) => list.includes(model))),
  };
}

export function createModelDeniedError(model: string): RouterError {
  return new RouterError('permission_denied', `This key may not use the model \`${model}\`.`, { param: 'model' });
}

/** @throws RouterError `permission_denied` for a key that may not use tools */
export function requireToolsTier({ tiers }: Pick<KeyIdentity, 'tiers'>): void {
  if (tiers && !tiers.includes('tools')) throw new RouterError('permission_denied', 'This key may not use tools.');
}
