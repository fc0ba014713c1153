import { useEffect, useRef, useState } from 'react';
import type { RequestPage, UsageRequest } from '../../../contract/usage.ts';
import { ApiFailure, callApi } from '../../api/call-api.ts';

/** Number of requests to fetch at once, and maximum length of the log after new requests are added. */
const pageSize = 40;

/** Milliseconds between two fetches of new requests. */
const fetchEveryMs = 1_000;

/** Maximum number of empty pages to fetch in a row. Pages can be empty if a filter matches few requests. */
const maxEmptyPages = 20;

export interface RequestLog {
  /** Undefined until the first requests are loaded. */
  requests: UsageRequest[] | undefined;
  error: ApiFailure | undefined;
  hasEarlier: boolean;
  isLoadingEarlier: boolean;
  showEarlier: () => void;
}

interface ShownLog {
  requests: UsageRequest[] | undefined;
  /** Cursor after which newer requests begin. */
  newest: string | undefined;
  /** Cursor from which earlier requests continue; undefined if there are none. */
  next: string | undefined;
  error: ApiFailure | undefined;
}

const emptyLog: ShownLog = { requests: undefined, newest: undefined, next: undefined, error: undefined };

/**
 * Fetches the requests that match a query. Keeps fetching new requests unless the log is paused or the page is hidden.
 * @param query the API's query string
 */
export function useRequestLog(query: string, isPaused: boolean): RequestLog {
  const [shownLog, setShownLog] = useState<ShownLog & { forQuery: string }>({ ...emptyLog, forQuery: query });
  const [isLoadingEarlier, setLoadingEarlier] = useState(false);
  const latestLog = useRef<ShownLog>(emptyLog);
  const currentQuery = useRef(query);
  const currentLog = shownLog.forQuery === query ? shownLog : emptyLog;

  useEffect(() => {
    latestLog.current = emptyLog;
    currentQuery.current = query;
    setLoadingEarlier(false);
  }, [query]);

  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    let timer: number | undefined;
    const show = (newLog: ShownLog): void => {
      if (signal.aborted) return;
      latestLog.current = newLog;
      setShownLog({ ...newLog, forQuery: query });
    };
    const fetchNew = async (): Promise<void> => {
      const { current: previousLog } = latestLog;
      try {
        const isFirst = previousLog.newest === undefined;
        if (isFirst) show(toFirstLog(await fetchNonEmptyPage(query, undefined, signal)));
        else if (!document.hidden) {
          const page = await fetchPage(query, { after: previousLog.newest }, signal);
          if (page.requests.length > 0 || previousLog.error) show(joinLogs(page, previousLog));
          else latestLog.current = { ...previousLog, newest: page.newest };
        }
      } catch (error) {
        if (error instanceof ApiFailure) show({ ...previousLog, error });
        else if (!signal.aborted) throw error;
      }
      if (!signal.aborted) timer = window.setTimeout(() => void fetchNew(), fetchEveryMs);
    };
    // A paused log still loads its first requests.
    if (!isPaused || latestLog.current.requests === undefined) void fetchNew();
    return () => {
      window.clearTimeout(timer);
      controller.abort();
    };
  }, [query, isPaused]);

  const showEarlier = (): void => {
    setLoadingEarlier(true);
    const show = (changeLog: (previousLog: ShownLog) => ShownLog): void => {
      // If the query has changed in the meantime, the answer is dropped.
      if (currentQuery.current !== query) return;
      latestLog.current = changeLog(latestLog.current);
      setShownLog({ ...latestLog.current, forQuery: query });
    };
    void fetchNonEmptyPage(query, latestLog.current.next)
      .then(
        ({ requests: earlierRequests, next: nextCursor }) =>
          show((before) => ({
            ...before,
            requests: [...(before.requests ?? []), ...earlierRequests],
            next: nextCursor,
            error: undefined,
          })),
        (failure: unknown) => {
          if (!(failure instanceof ApiFailure)) throw failure;
          show((before) => ({ ...before, error: failure }));
        },
      )
      .finally(() => {
        if (currentQuery.current === query) setLoadingEarlier(false);
      });
  };
  const { requests, error, next } = currentLog;
  return { requests, error, hasEarlier: next !== undefined, isLoadingEarlier, showEarlier };
}

function toFirstLog({ requests, newest, next }: RequestPage): ShownLog {
  return { requests, newest, next, error: undefined };
}

/**
 * Puts new requests before the shown requests. If there is more than a page of new requests, drops the shown requests. They can be loaded
 * again as earlier requests.
 */
function joinLogs(page: RequestPage, previousLog: ShownLog): ShownLog {
  if (page.next !== undefined) return toFirstLog(page);
  const allRequests = [...page.requests, ...(previousLog.requests ?? [])];
  const requests = allRequests.slice(0, pageSize);
  const next = allRequests.length > pageSize ? requests.at(-1)?.cursor : previousLog.next;
  return { requests, newest: page.newest ?? previousLog.newest, next, error: undefined };
}

function fetchPage(
  baseQuery: string,
  cursors: { before?: string | undefined; after?: string | undefined },
  signal?: AbortSignal,
): Promise<RequestPage> {
  const query = new URLSearchParams(baseQuery);
  query.set('limit', String(pageSize));
  for (const [name, value] of Object.entries(cursors)) if (value !== undefined) query.set(name, value);
  return callApi<RequestPage>('GET', `/usage/requests?${query}`, undefined, signal);
}

/**
 * Fetches pages from a cursor on, and returns the first page that contains a request, or the last of 20 empty pages. A page is empty if the
 * router has read many requests without a match.
 */
async function fetchNonEmptyPage(
  baseQuery: string,
  before: string | undefined,
  signal?: AbortSignal,
): Promise<RequestPage> {
  const first = await fetchPage(baseQuery, { before }, signal);
  let page = first;
  for (let count = 1; page.requests.length === 0 && page.next !== undefined && count < maxEmptyPages; count += 1)
    page = await fetchPage(baseQuery, { before: page.next }, signal);
  return { ...page, ...(first.newest !== undefined && { newest: first.newest }) };
}
