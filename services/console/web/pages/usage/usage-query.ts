import { computeNamedPeriod, type NamedPeriod, type TotalsUnit } from '#shared/accounts/periods.ts';
import type { UsageGroup, Totals } from '../../../contract/usage.ts';
import { formatCount, formatMoney, formatShort } from '../../parts/format.ts';

export type Measure = 'tokens' | 'requests' | 'cost';

export type MeasuredTotals = Pick<Totals, 'requests' | 'promptTokens' | 'completionTokens' | 'cost'>;

export const measures: Record<
  Measure,
  { name: string; computeValue: (sums: MeasuredTotals) => number; format: (value: number) => string }
> = {
  tokens: {
    name: 'Tokens',
    computeValue: ({ promptTokens, completionTokens }) => promptTokens + completionTokens,
    format: formatShort,
  },
  requests: { name: 'Requests', computeValue: ({ requests }) => requests, format: formatCount },
  cost: { name: 'Cost', computeValue: ({ cost }) => cost, format: formatMoney },
};

export const usageSpans = {
  '1d': { label: 'Today', step: 'day' },
  '7d': { label: 'Last 7 days', step: 'day' },
  '30d': { label: 'Last 30 days', step: 'day' },
  '90d': { label: 'Last 90 days', step: 'day' },
  '1y': { label: 'Last 12 months', step: 'month' },
} as const satisfies Partial<Record<NamedPeriod, { label: string; step: TotalsUnit }>>;
export type Span = keyof typeof usageSpans;

export const groupLabels: Record<UsageGroup, string> = {
  model: 'Model',
  key: 'Key',
  team: 'Team',
  user: 'Person',
  tier: 'Tier',
  purpose: 'Purpose',
};
export const filterNames = ['model', 'key', 'team', 'user', 'tier', 'purpose'] as const;

export interface UsageQuery {
  span: Span;
  by: UsageGroup;
  measure: Measure;
  filters: Partial<Record<UsageGroup, string>>;
  /** The API's query string for the report. */
  reportQuery: string;
  /** The API's query string for an export. */
  exportQuery: string;
  /** The query string for refused requests, which cannot be filtered by model, tier or purpose. */
  refusedQuery: string;
  /** The query string for the hours of a single day by group; undefined if such hours are not kept. */
  hoursQuery: string | undefined;
}

/** Reads the choices of the page from the query of its URL. Ignores invalid values. */
export function readUsageQuery(search: URLSearchParams, now = Date.now()): UsageQuery {
  const span = findValue(Object.keys(usageSpans) as Span[], search.get('span')) ?? '7d';
  const by = findValue(filterNames, search.get('by')) ?? 'model';
  const measure = findValue(Object.keys(measures) as Measure[], search.get('measure')) ?? 'tokens';
  const filters: UsageQuery['filters'] = {};
  for (const name of filterNames) {
    const value = search.get(name);
    if (value !== null && value !== '') filters[name] = value;
  }
  const { step } = usageSpans[span];
  const { key, team, user } = filters;
  const ownerFilters = Object.fromEntries(
    Object.entries({ key, team, user }).filter(([, value]) => value !== undefined),
  );
  // The span lasts to the end of today, so that the query stays the same all day and answers can be cached.
  const { from, to } = computeNamedPeriod(span, now);
  const time = { from: String(from), to: String(to) };
  return {
    span,
    by,
    measure,
    filters,
    reportQuery: new URLSearchParams({ ...time, step, by, ...filters }).toString(),
    exportQuery: new URLSearchParams({ ...time, ...filters }).toString(),
    refusedQuery: new URLSearchParams({ ...time, step, by: 'code', ...ownerFilters }).toString(),
    hoursQuery:
      span === '1d' && hasHours(by, filters) ? new URLSearchParams({ ...time, by, ...filters }).toString() : undefined,
  };
}

/** Whether the ledger keeps hours for a group and these filters. Hours by model are kept only for all keys together. */
function hasHours(by: UsageGroup, filters: UsageQuery['filters']): boolean {
  const { key: _key, team: _team, user: _user, ...others } = filters;
  if (by === 'model') return Object.keys(filters).length === 0;
  return ['key', 'team', 'user'].includes(by) && Object.keys(others).length === 0;
}

function findValue<Value extends string>(values: readonly Value[], text: string | null): Value | undefined {
  return values.find((value) => value === text);
}
