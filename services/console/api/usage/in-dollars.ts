import type { HourSums } from '#shared/accounts/ledger/hour-groups.ts';
import type { UsageTotals } from '#shared/accounts/ledger/totals.ts';
import { toDollars } from '#shared/accounts/money.ts';
import type { Totals } from '../../contract/usage.ts';

export function toTotalsAnswer(totals: UsageTotals): Totals {
  return { ...totals, cost: toDollars(totals.cost) };
}

export function toHourAnswer(sums: HourSums): HourSums {
  return { ...sums, cost: toDollars(sums.cost) };
}
