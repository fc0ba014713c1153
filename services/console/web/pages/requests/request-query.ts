import { computeNamedPeriod, type NamedPeriod } from '#shared/accounts/periods.ts';

/** Labels of the filters for requests, by the name of the filter in the URL and in the API. */
export const requestFilters = {
  model: 'Model',
  key: 'Key',
  user: 'Person',
  team: 'Team',
  tier: 'Tier',
  outcome: 'Outcome',
  purpose: 'Purpose',
  code: 'Error',
  recorded: 'Recording',
} as const;
export type RequestFilter = keyof typeof requestFilters;
export const requestFilterNames = Object.keys(requestFilters) as readonly RequestFilter[];

export const logSpans = {
  '1h': { label: 'Last hour' },
  '24h': { label: 'Last 24 hours' },
  '7d': { label: 'Last 7 days' },
  '30d': { label: 'Last 30 days' },
} as const satisfies Partial<Record<NamedPeriod, { label: string }>>;
export type LogSpan = keyof typeof logSpans;

export interface RequestQuery {
  filters: Partial<Record<RequestFilter, string>>;
  span: LogSpan | undefined;
  /** The beginning of the span, in ms since 1970. */
  spanStart: number | undefined;
  /** An exact span, set by a link from another page, in ms since 1970. */
  exactSpan: { from: number; to: number } | undefined;
  /** The API's query string for these filters and this span. */
  apiQuery: string;
}

/** Reads the filters and the span of the log from the query of its URL. Ignores invalid values. */
export function readRequestQuery(search: URLSearchParams, now: number): RequestQuery {
  const filters: RequestQuery['filters'] = {};
  for (const name of requestFilterNames) {
    const value = search.get(name);
    if (value !== null && value !== '') filters[name] = value;
  }
  const requestedSpan = search.get('span');
  const span = (Object.keys(logSpans) as LogSpan[]).find((name) => name === requestedSpan);
  const [from, to] = [Number(search.get('from')), Number(search.get('to'))];
  const exactSpan = Number.isInteger(from) && Number.isInteger(to) && 0 < from && from < to ? { from, to } : undefined;
  const spanStart = span && !exactSpan ? computeNamedPeriod(span, now).from : undefined;
  const time: Record<string, string> = exactSpan
    ? { from: String(exactSpan.from), to: String(exactSpan.to) }
    : spanStart === undefined
      ? {}
      : { from: String(spanStart) };
  return {
    filters,
    span: exactSpan ? undefined : span,
    spanStart,
    exactSpan,
    apiQuery: new URLSearchParams({ ...time, ...filters }).toString(),
  };
}
