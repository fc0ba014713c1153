import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { Tier } from '#shared/core/tier.ts';
import { autoModel } from './resolve-model.ts';

/** What a key's list of models and tiers lets through. */
export interface KeyPermits {
  /** Whether there is anything that it does not let through. */
  restricts: boolean;
  /** Whether requests may name this: a model, or a name of the registry. */
  allowsName: (name: string) => boolean;
  /** Whether a tier may serve, and with `auto` a model of it. */
  allowsLane: (tier: Tier, model?: string) => boolean;
}

/**
 * `auto` may always be asked for and takes models of the key's list only, unless that names `auto` too. A name on the list may
 * be asked for whatever it stands for.
 */
export function permitsOf({ models, tiers }: Pick<KeyIdentity, 'models' | 'tiers'>): KeyPermits {
  const takesAny = models === undefined || models.includes(autoModel);
  return {
    restricts: models !== undefined || tiers !== undefined,
    allowsName: (name) => models === undefined || name === autoModel || models.includes(name),
    allowsLane: (tier, model) =>
      (tiers === undefined || tiers.includes(tier)) && (takesAny || model === undefined || models.includes(model)),
  };
}

/** The error for a model that a key may not ask for. */
export function modelDenied(model: string): RouterError {
  return new RouterError('permission_denied', `This key may not use the model \`${model}\`.`, { param: 'model' });
}

/** @throws RouterError `permission_denied` for a key that may not use tools */
export function requireToolsTier({ tiers }: Pick<KeyIdentity, 'tiers'>): void {
  if (tiers && !tiers.includes('tools')) throw new RouterError('permission_denied', 'This key may not use tools.');
}
