import type { Totals } from '../../../contract/usage.ts';
import { formatCount, formatMoney, formatShort } from '../../parts/format.ts';

export type Measure = 'tokens' | 'requests' | 'cost';

/** What usage is measured in. */
export const measures: Record<
  Measure,
  { name: string; of: (totals: Totals) => number; format: (value: number) => string }
> = {
  tokens: {
    name: 'Tokens',
    of: ({ promptTokens, completionTokens }) => promptTokens + completionTokens,
    format: formatShort,
  },
  requests: { name: 'Requests', of: ({ requests }) => requests, format: formatCount },
  cost: { name: 'Cost', of: ({ cost }) => cost, format: formatMoney },
};
