import type { Period } from '#shared/accounts/periods.ts';
import { formatDateTime } from './format.ts';

const dayMs = 86_400_000;
const days = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });

/** Returns the dates of a period. Whole days give `Nov 23 – 29, 2026, in UTC`, other periods `since Nov 28, 2026, 5:00 PM`. */
export function formatPeriod({ from, to }: Period): string {
  const hasWholeDays = from % dayMs === 0 && to % dayMs === 0;
  return hasWholeDays ? `${days.formatRange(from, to - 1)}, in UTC` : `since ${formatDateTime(from)}`;
}
