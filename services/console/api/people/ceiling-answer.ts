import type { Ceiling } from '#shared/accounts/people/ceiling.ts';
import type { User } from '../../contract/account.ts';

/** Returns a ceiling without its undefined fields. */
export function toCeilingAnswer({ models, tiers, maxClass }: Ceiling = {}): User['ceiling'] {
  return {
    ...(models === undefined ? {} : { models }),
    ...(tiers === undefined ? {} : { tiers }),
    ...(maxClass === undefined ? {} : { maxClass }),
  };
}
