import type { LimitUse } from '../../../contract/usage.ts';
import { formatCount, formatMoney, formatShort } from '../../parts/format.ts';

/** Returns the name of a limit in words, for example `tokens per day` for `tokensPerDay`. */
export function describeLimitName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/**
 * Describes the used amount, for example `2.2 of 3`. The use of a limit per minute decreases steadily, so the amount may have fractions. An
 * amount below the limit is never rounded up to the limit.
 */
export function describeUsedAmount(name: string, used: number, limit: number): string {
  const isMoney = name.startsWith('cost');
  const partsOfOne = isMoney ? 100 : used < 100 ? 10 : 1;
  const roundedUse = used >= limit ? used : Math.floor(used * partsOfOne) / partsOfOne;
  if (isMoney) return `${formatMoney(roundedUse)} of ${formatMoney(limit)}`;
  const format = roundedUse < limit && formatShort(roundedUse) === formatShort(limit) ? formatCount : formatShort;
  return `${format(roundedUse)} of ${format(limit)}`;
}

/** Returns the used share of the tightest limit: 0 if nothing is used, 1 if the limit is used up. */
export function computeUsedShare({ limits }: LimitUse): number {
  return Math.max(...limits.map(({ used, limit }) => used / limit));
}

/** Returns the parties with limits, sorted by the used share of their tightest limit, largest share first. */
export function sortByTightestLimit(uses: readonly LimitUse[]): LimitUse[] {
  return uses
    .filter(({ limits }) => limits.length > 0)
    .map((use) => ({ use, share: computeUsedShare(use) }))
    .sort((a, b) => b.share - a.share || a.use.name.localeCompare(b.use.name))
    .map(({ use }) => use);
}
