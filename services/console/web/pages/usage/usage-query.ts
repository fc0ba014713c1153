import type { UsageGroup, Totals } from '../../../contract/usage.ts';
import { formatCount, formatMoney, formatShort } from '../../parts/format.ts';

export type Measure = 'tokens' | 'requests' | 'cost';

/** Sums that each measure can be read of. */
export type Measured = Pick<Totals, 'requests' | 'promptTokens' | 'completionTokens' | 'cost'>;

/** The measures of usage. */
export const measures: Record<
  Measure,
  { name: string; of: (sums: Measured) => number; format: (value: number) => string }
> = {
  tokens: {
    name: 'Tokens',
    of: ({ promptTokens, completionTokens }) => promptTokens + completionTokens,
    format: formatShort,
  },
  requests: { name: 'Requests', of: ({ requests }) => requests, format: formatCount },
  cost: { name: 'Cost', of: ({ cost }) => cost, format: formatMoney },
};

const dayMs = 86_400_000;

/** The spans of time to choose from. */
export const spans = {
  '1d': { label: 'Today', days: 1, step: 'day' },
  '7d': { label: 'Last 7 days', days: 7, step: 'day' },
  '30d': { label: 'Last 30 days', days: 30, step: 'day' },
  '90d': { label: 'Last 90 days', days: 90, step: 'day' },
  '1y': { label: 'Last 12 months', months: 12, step: 'month' },
} as const;
export type Span = keyof typeof spans;

/** What usage can be grouped and filtered by. */
export const groups: Record<UsageGroup, string> = {
  model: 'Model',
  key: 'Key',
  team: 'Team',
  user: 'Person',
  tier: 'Tier',
  purpose: 'Purpose',
};
export const filterNames = ['model', 'key', 'team', 'user', 'tier', 'purpose'] as const;

/** The page's address, read. */
export interface UsageQuery {
  span: Span;
  by: UsageGroup;
  measure: Measure;
  filters: Partial<Record<UsageGroup, string>>;
  /** The API's query strings for the report and for an export. */
  report: string;
  exported: string;
  /** That for refused requests, which have no model, tier and purpose. */
  refused: string;
  /** That for the hours of a single day by group; undefined where hours of that are not kept. */
  hours: string | undefined;
}

/** Reads the page's address and ignores what is not valid. */
export function readQuery(search: URLSearchParams, now = Date.now()): UsageQuery {
  const span = oneOf(Object.keys(spans) as Span[], search.get('span')) ?? '7d';
  const by = oneOf(filterNames, search.get('by')) ?? 'model';
  const measure = oneOf(Object.keys(measures) as Measure[], search.get('measure')) ?? 'tokens';
  const filters: UsageQuery['filters'] = {};
  for (const name of filterNames) {
    const value = search.get(name);
    if (value !== null && value !== '') filters[name] = value;
  }
  const { step } = spans[span];
  // Whole days, so that the query stays the same all day and answers can be cached.
  const today = Math.floor(now / dayMs) * dayMs;
  const { key, team, user } = filters;
  const whose = Object.fromEntries(Object.entries({ key, team, user }).filter(([, value]) => value !== undefined));
  const time = { from: String(beginningOf(spans[span], today)), to: String(today + dayMs - 1) };
  return {
    span,
    by,
    measure,
    filters,
    report: new URLSearchParams({ ...time, step, by, ...filters }).toString(),
    exported: new URLSearchParams({ ...time, ...filters }).toString(),
    refused: new URLSearchParams({ ...time, step, by: 'code', ...whose }).toString(),
    hours:
      span === '1d' && hasHours(by, filters) ? new URLSearchParams({ ...time, by, ...filters }).toString() : undefined,
  };
}

/** Whether hours are kept by a group and with filters: those of models are of all keys together. */
function hasHours(by: UsageGroup, filters: UsageQuery['filters']): boolean {
  const { key: _key, team: _team, user: _user, ...others } = filters;
  if (by === 'model') return Object.keys(filters).length === 0;
  return ['key', 'team', 'user'].includes(by) && Object.keys(others).length === 0;
}

/** When the first step of a span begins. @param today the beginning of the day, in UTC */
function beginningOf(span: (typeof spans)[Span], today: number): number {
  if ('days' in span) return today - (span.days - 1) * dayMs;
  const date = new Date(today);
  // Whole months: this one and those before it.
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - (span.months - 1), 1);
}

function oneOf<Value extends string>(values: readonly Value[], sought: string | null): Value | undefined {
  return values.find((value) => value === sought);
}
