import { useEffect, useRef, useState } from 'react';
import type { RequestPage, UsageRequest } from '../../../contract/usage.ts';
import { ApiFailure, callApi } from '../../api/call-api.ts';

/** Requests that are fetched at once, and that a log shows which is not paused. */
const pageSize = 40;

/** Milliseconds between two looks for new requests. */
const lookMs = 1_000;

/** Pages without any request that are fetched one after another, where a filter lets few through. */
const mostEmptyPages = 20;

/** The requests that a log shows, newest first. */
export interface RequestLog {
  /** Undefined until the first ones are there. */
  requests: UsageRequest[] | undefined;
  error: ApiFailure | undefined;
  hasEarlier: boolean;
  isLoadingEarlier: boolean;
  showEarlier: () => void;
}

interface Shown {
  requests: UsageRequest[] | undefined;
  /** Where later and earlier requests begin. */
  newest: string | undefined;
  next: string | undefined;
  error: ApiFailure | undefined;
}

const nothing: Shown = { requests: undefined, newest: undefined, next: undefined, error: undefined };

/**
 * The requests that a query finds, and those that come later, unless it is paused or the page is hidden.
 * @param asked the API's query string
 */
export function useRequestLog(asked: string, isPaused: boolean): RequestLog {
  const [shown, setShown] = useState<Shown & { asked: string }>({ ...nothing, asked });
  const [isLoadingEarlier, setLoadingEarlier] = useState(false);
  const last = useRef<Shown>(nothing);
  const asking = useRef(asked);
  const current = shown.asked === asked ? shown : nothing;

  useEffect(() => {
    last.current = nothing;
    asking.current = asked;
    setLoadingEarlier(false);
  }, [asked]);

  useEffect(() => {
    const gone = new AbortController();
    const { signal } = gone;
    let timer: number | undefined;
    const show = (next: Shown): void => {
      if (signal.aborted) return;
      last.current = next;
      setShown({ ...next, asked });
    };
    const look = async (): Promise<void> => {
      const { current: before } = last;
      try {
        const isFirst = before.newest === undefined;
        if (isFirst) show(firstOf(await fetchSome(asked, undefined, signal)));
        else if (!document.hidden) {
          const page = await fetchPage(asked, { after: before.newest }, signal);
          if (page.requests.length > 0 || before.error) show(joined(page, before));
          else last.current = { ...before, newest: page.newest };
        }
      } catch (error) {
        if (error instanceof ApiFailure) show({ ...before, error });
        else if (!signal.aborted) throw error;
      }
      if (!signal.aborted) timer = window.setTimeout(() => void look(), lookMs);
    };
    // A paused log has its first requests all the same.
    if (!isPaused || last.current.requests === undefined) void look();
    return () => {
      window.clearTimeout(timer);
      gone.abort();
    };
  }, [asked, isPaused]);

  const showEarlier = (): void => {
    setLoadingEarlier(true);
    const show = (next: (before: Shown) => Shown): void => {
      // Something else may be asked for by now.
      if (asking.current !== asked) return;
      last.current = next(last.current);
      setShown({ ...last.current, asked });
    };
    void fetchSome(asked, last.current.next)
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
        if (asking.current === asked) setLoadingEarlier(false);
      });
  };
  const { requests, error, next } = current;
  return { requests, error, hasEarlier: next !== undefined, isLoadingEarlier, showEarlier };
}

function firstOf({ requests, newest, next }: RequestPage): Shown {
  return { requests, newest, next, error: undefined };
}

/** New requests before those that were shown. When there are more than one page of new ones, the others are to be had as earlier ones. */
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

/** The first page behind a place that has any request: a page comes out empty where the router has looked at many. */
async function fetchSome(asked: string, before: string | undefined, signal?: AbortSignal): Promise<RequestPage> {
  const first = await fetchPage(asked, { before }, signal);
  let page = first;
  for (let count = 1; page.requests.length === 0 && page.next !== undefined && count < mostEmptyPages; count += 1)
    page = await fetchPage(asked, { before: page.next }, signal);
  return { ...page, ...(first.newest !== undefined && { newest: first.newest }) };
}
