import { computeNamedPeriod, type NamedPeriod } from '#shared/accounts/periods.ts';

/** The labels of the filters of single requests, by the name that the filter has in the URL and in the API. */
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
  since: number | undefined;
  /** A span that another page has set, in ms since 1970. */
  between: { from: number; to: number } | undefined;
  /** The API's query string, without the page of the list. */
  apiQuery: string;
}

/** Reads the URL's query of the log, and ignores what is not valid. */
export function readRequestQuery(search: URLSearchParams, now: number): RequestQuery {
  const filters: RequestQuery['filters'] = {};
  for (const name of requestFilterNames) {
    const value = search.get(name);
    if (value !== null && value !== '') filters[name] = value;
  }
  const sought = search.get('span');
  const span = (Object.keys(logSpans) as LogSpan[]).find((each) => each === sought);
  const [from, to] = [Number(search.get('from')), Number(search.get('to'))];
  const between = Number.isInteger(from) && Number.isInteger(to) && 0 < from && from < to ? { from, to } : undefined;
  const since = span && !between ? computeNamedPeriod(span, now).from : undefined;
  const time: Record<string, string> = between
    ? { from: String(between.from), to: String(between.to) }
    : since === undefined
      ? {}
      : { from: String(since) };
  return {
    filters,
    span: between ? undefined : span,
    since,
    between,
    apiQuery: new URLSearchParams({ ...time, ...filters }).toString(),
  };
}
