import type { UsageTotals } from '#shared/accounts/ledger/totals.ts';
import { toDollars } from '#shared/accounts/money.ts';
import type { Totals } from '../../contract/usage.ts';

/** Sums whose cost is in US dollars. */
export function inDollars(totals: UsageTotals): Totals {
  return { ...totals, cost: toDollars(totals.cost) };
}
