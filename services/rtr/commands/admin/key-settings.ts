import { weightSchema } from '#shared/accounts/limits/limits.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { PriorityClass } from '#shared/core/priority-class.ts';
import type { Key } from './admin-answers.ts';
import { noneAsNull, type OrNone } from './named-values.ts';
import { mergeLimits, readRecordingChange, type RecordsOption } from './party-settings.ts';

export interface KeySettings {
  class?: PriorityClass;
  weight?: string;
  models?: OrNone<string[]>;
  tiers?: OrNone<string[]>;
  tools?: string[];
  expires?: OrNone<number>;
  limit?: string[];
}

export interface NewKeyOptions extends KeySettings {
  name: string;
  user?: string;
  team?: string;
  /** Whether the key is for the person who made the admin token. */
  own?: true;
}

/**
 * Converts the settings that were given as options into the body of a request to the Admin API.
 * @param current the key before the change
 * @throws RouterError `invalid_request`
 */
export function readKeyChange(
  current: Pick<Key, 'limits'>,
  options: KeySettings & RecordsOption,
): Record<string, unknown> {
  const { class: priority, weight, models, tiers, tools, expires, limit, records: recording } = options;
  return {
    ...(priority !== undefined && { class: priority }),
    ...(weight !== undefined && { weight: readWeight(weight) }),
    ...(models !== undefined && { models: noneAsNull(models) }),
    ...(tiers !== undefined && { tiers: noneAsNull(tiers) }),
    ...(tools !== undefined && { tools: tools.length === 1 && tools[0] === 'none' ? null : tools }),
    ...(expires !== undefined && { expiresAt: noneAsNull(expires) }),
    ...(limit !== undefined && { limits: mergeLimits(current.limits, limit) }),
    ...readRecordingChange({ records: recording }),
  };
}

/** @throws RouterError `invalid_request` for a text that is not a weight */
export function readWeight(text: string): number {
  const weight = weightSchema.safeParse(Number(text));
  if (weight.success) return weight.data;
  throw new RouterError('invalid_request', 'The weight must be a whole number from 1 to 100.', { param: 'weight' });
}
