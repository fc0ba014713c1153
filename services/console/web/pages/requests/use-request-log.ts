import { useEffect, useRef, useState } from 'react';
import type { RequestPage, UsageRequest } from '../../../contract/usage.ts';
import { ApiFailure, callApi } from '../../api/call-api.ts';

/** This many requests are fetched at once. When new ones come, the log is cut to this many. */
const pageSize = 40;

/** Milliseconds between two fetches of new requests. */
const lookMs = 1_000;

/** At most this many empty pages are fetched one after another. They occur when a filter matches few requests. */
const maxEmptyPages = 20;

export interface RequestLog {
  /** Undefined until the first requests are loaded. */
  requests: UsageRequest[] | undefined;
  error: ApiFailure | undefined;
  hasEarlier: boolean;
  isLoadingEarlier: boolean;
  showEarlier: () => void;
}

interface Shown {
  requests: UsageRequest[] | undefined;
  /** The cursors at which later and earlier requests begin. */
  newest: string | undefined;
  next: string | undefined;
  error: ApiFailure | undefined;
}

const emptyLog: Shown = { requests: undefined, newest: undefined, next: undefined, error: undefined };

/**
 * Fetches the requests that match a query, and new ones unless the log is paused or the page is hidden.
 * @param query the API's query string
 */
export function useRequestLog(query: string, isPaused: boolean): RequestLog {
  const [shown, setShown] = useState<Shown & { asked: string }>({ ...emptyLog, asked: query });
  const [isLoadingEarlier, setLoadingEarlier] = useState(false);
  const last = useRef<Shown>(emptyLog);
  const asking = useRef(query);
  const current = shown.asked === query ? shown : emptyLog;

  useEffect(() => {
    last.current = emptyLog;
    asking.current = query;
    setLoadingEarlier(false);
  }, [query]);

  useEffect(() => {
    const gone = new AbortController();
    const { signal } = gone;
    let timer: number | undefined;
    const show = (next: Shown): void => {
      if (signal.aborted) return;
      last.current = next;
      setShown({ ...next, asked: query });
    };
    const look = async (): Promise<void> => {
      const { current: before } = last;
      try {
        const isFirst = before.newest === undefined;
        if (isFirst) show(firstOf(await fetchSome(query, undefined, signal)));
        else if (!document.hidden) {
          const page = await fetchPage(query, { after: before.newest }, signal);
          if (page.requests.length > 0 || before.error) show(joined(page, before));
          else last.current = { ...before, newest: page.newest };
        }
      } catch (error) {
        if (error instanceof ApiFailure) show({ ...before, error });
        else if (!signal.aborted) throw error;
      }
      if (!signal.aborted) timer = window.setTimeout(() => void look(), lookMs);
    };
    // A paused log still loads its first requests.
    if (!isPaused || last.current.requests === undefined) void look();
    return () => {
      window.clearTimeout(timer);
      gone.abort();
    };
  }, [query, isPaused]);

  const showEarlier = (): void => {
    setLoadingEarlier(true);
    const show = (next: (before: Shown) => Shown): void => {
      // The answer is dropped if the query has changed meanwhile.
      if (asking.current !== query) return;
      last.current = next(last.current);
      setShown({ ...last.current, asked: query });
    };
    void fetchSome(query, last.current.next)
      .then(
        ({ requests: found, next: following }) =>
          show((before) => ({
            ...before,
            requests: [...(before.requests ?? []), ...found],
            next: following,
            error: undefined,
          })),
        (failure: unknown) => {
          if (!(failure instanceof ApiFailure)) throw failure;
          show((before) => ({ ...before, error: failure }));
        },
      )
      .finally(() => {
        if (asking.current === query) setLoadingEarlier(false);
      });
  };
  const { requests, error, next } = current;
  return { requests, error, hasEarlier: next !== undefined, isLoadingEarlier, showEarlier };
}

function firstOf({ requests, newest, next }: RequestPage): Shown {
  return { requests, newest, next, error: undefined };
}

/**
 * Puts new requests before the shown ones. If there is more than a page of new requests, the shown ones are dropped, and can be
 * loaded again as earlier ones.
 */
function joined(page: RequestPage, before: Shown): Shown {
  if (page.next !== undefined) return firstOf(page);
  const all = [...page.requests, ...(before.requests ?? [])];
  const requests = all.slice(0, pageSize);
  const next = all.length > pageSize ? requests.at(-1)?.cursor : before.next;
  return { requests, newest: page.newest ?? before.newest, next, error: undefined };
}

function fetchPage(
  asked: string,
  place: { before?: string | undefined; after?: string | undefined },
  signal?: AbortSignal,
): Promise<RequestPage> {
  const query = new URLSearchParams(asked);
  query.set('limit', String(pageSize));
  for (const [name, value] of Object.entries(place)) if (value !== undefined) query.set(name, value);
  return callApi<RequestPage>('GET', `/usage/requests?${query}`, undefined, signal);
}

/**
 * Returns the first page after a cursor that contains a request. A page is empty if the router has read many requests without a match.
 */
async function fetchSome(asked: string, before: string | undefined, signal?: AbortSignal): Promise<RequestPage> {
  const first = await fetchPage(asked, { before }, signal);
  let page = first;
  for (let count = 1; page.requests.length === 0 && page.next !== undefined && count < maxEmptyPages; count += 1)
    page = await fetchPage(asked, { before: page.next }, signal);
  return { ...page, ...(first.newest !== undefined && { newest: first.newest }) };
}
