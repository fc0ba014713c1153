import { useEffect, useState } from 'react';
import { useSearchParams } from 'wouter';
import type { Sorting } from './arrange-rows.ts';

/**
 * Milliseconds after the last keystroke until the search is put into the URL. Waiting is needed because browsers allow a page only some
 * hundred changes of the URL in a minute.
 */
const writeAfterMs = 250;

/** The search of a table, its sorting, and the shown page of rows. */
export interface TableState {
  search: string;
  sorting: Sorting | undefined;
  /** 0 for the first. */
  page: number;
}

export interface TableControl extends TableState {
  setSearch: (search: string) => void;
  setSorting: (sorting: Sorting | undefined) => void;
  setPage: (page: number) => void;
  /** Clears the search and the sorting, and shows the first page. */
  reset: () => void;
}

const parts = ['search', 'sort', 'page'] as const;
type Parts = { [Part in (typeof parts)[number]]?: string | undefined };

/**
 * Returns the state of a table. If it is kept in the URL, the state survives a reload. Each change of sorting or page then adds an entry to
 * the browser's history.
 * @param name the prefix of the URL's parameters. `tokens` gives `tokens-search`, `''` gives `search`. Undefined: the state is not kept in
 * the URL
 */
export function useTableState(name: string | undefined): TableControl {
  const [params, setParams] = useSearchParams();
  const [own, setOwn] = useState<Parts>({});
  const nameOf = (part: (typeof parts)[number]): string =>
    name === undefined || name === '' ? part : `${name}-${part}`;
  const kept = (part: (typeof parts)[number]): string | undefined =>
    name === undefined ? own[part] : (params.get(nameOf(part)) ?? undefined);
  const write = (change: Parts, replace: boolean): void => {
    if (name === undefined) {
      setOwn((before) => ({ ...before, ...change }));
      return;
    }
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        for (const part of parts) {
          if (!(part in change)) continue;
          const value = change[part];
          if (value === undefined || value === '') next.delete(nameOf(part));
          else next.set(nameOf(part), value);
        }
        return next;
      },
      { replace },
    );
  };

  const written = kept('search') ?? '';
  const [typed, setTyped] = useState(written);
  const [known, setKnown] = useState(written);
  if (written !== known) {
    // The URL was changed by the effect below, or by Back.
    setKnown(written);
    setTyped(written);
  }
  useEffect(() => {
    if (typed === written) return undefined;
    // The first letter adds an entry to the history; further letters change that entry.
    const timer = window.setTimeout(() => write({ search: typed, page: undefined }, written !== ''), writeAfterMs);
    return () => window.clearTimeout(timer);
  });

  const sort = kept('sort');
  const page = Number(kept('page') ?? '1');
  return {
    search: typed,
    sorting: sort === undefined ? undefined : { column: sort.replace(/^-/, ''), down: sort.startsWith('-') },
    // A typed search shows its first page even before it is put into the URL.
    page: typed === written && Number.isInteger(page) && page > 0 ? page - 1 : 0,
    setSearch: setTyped,
    setSorting: (sorting) =>
      write({ sort: sorting && `${sorting.down ? '-' : ''}${sorting.column}`, page: undefined }, false),
    setPage: (next) => write({ page: next === 0 ? undefined : String(next + 1) }, false),
    reset: () => {
      setTyped('');
      write({ search: undefined, sort: undefined, page: undefined }, false);
    },
  };
}
