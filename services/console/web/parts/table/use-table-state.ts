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
  /** 0 for the first page. */
  page: number;
}

export interface TableControl extends TableState {
  setSearch: (search: string) => void;
  setSorting: (sorting: Sorting | undefined) => void;
  setPage: (page: number) => void;
  /** Clears the search and the sorting, and shows the first page. */
  reset: () => void;
}

const partNames = ['search', 'sort', 'page'] as const;
type StateParts = { [Part in (typeof partNames)[number]]?: string | undefined };

/**
 * Returns the state of a table. If the state is kept in the URL, it survives a reload. Each change of sorting or page then adds an entry to
 * the browser's history.
 * @param name the prefix of the URL's parameters. `tokens` gives `tokens-search`, `''` gives `search`. Undefined: the state is not kept in
 * the URL
 */
export function useTableState(name: string | undefined): TableControl {
  const [params, setParams] = useSearchParams();
  const [ownParts, setOwnParts] = useState<StateParts>({});
  const buildName = (part: (typeof partNames)[number]): string =>
    name === undefined || name === '' ? part : `${name}-${part}`;
  const readPart = (part: (typeof partNames)[number]): string | undefined =>
    name === undefined ? ownParts[part] : (params.get(buildName(part)) ?? undefined);
  const changeParts = (change: StateParts, replace: boolean): void => {
    if (name === undefined) {
      setOwnParts((before) => ({ ...before, ...change }));
      return;
    }
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        for (const part of partNames) {
          if (!(part in change)) continue;
          const value = change[part];
          if (value === undefined || value === '') next.delete(buildName(part));
          else next.set(buildName(part), value);
        }
        return next;
      },
      { replace },
    );
  };

  const storedSearch = readPart('search') ?? '';
  const [typedSearch, setTypedSearch] = useState(storedSearch);
  const [lastStoredSearch, setLastStoredSearch] = useState(storedSearch);
  if (storedSearch !== lastStoredSearch) {
    // The URL was changed by the effect below, or by Back.
    setLastStoredSearch(storedSearch);
    setTypedSearch(storedSearch);
  }
  useEffect(() => {
    if (typedSearch === storedSearch) return undefined;
    // The first letter adds an entry to the history; further letters change that entry.
    const timer = window.setTimeout(
      () => changeParts({ search: typedSearch, page: undefined }, storedSearch !== ''),
      writeAfterMs,
    );
    return () => window.clearTimeout(timer);
  });

  const sort = readPart('sort');
  const page = Number(readPart('page') ?? '1');
  return {
    search: typedSearch,
    sorting: sort === undefined ? undefined : { column: sort.replace(/^-/, ''), isDescending: sort.startsWith('-') },
    // A typed search shows its first page even before it is put into the URL.
    page: typedSearch === storedSearch && Number.isInteger(page) && page > 0 ? page - 1 : 0,
    setSearch: setTypedSearch,
    setSorting: (sorting) =>
      changeParts({ sort: sorting && `${sorting.isDescending ? '-' : ''}${sorting.column}`, page: undefined }, false),
    setPage: (next) => changeParts({ page: next === 0 ? undefined : String(next + 1) }, false),
    reset: () => {
      setTypedSearch('');
      changeParts({ search: undefined, sort: undefined, page: undefined }, false);
    },
  };
}
