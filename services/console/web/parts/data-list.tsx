import { useMediaQuery } from '@mantine/hooks';
import { Suspense, useDeferredValue, useMemo, useRef, type ReactNode } from 'react';
import { lazyCode } from './lazy-code.tsx';
import { Empty } from './loaded.tsx';
import { arrangeRows, indexRows } from './table/arrange-rows.ts';
import type { Column } from './table/column.ts';
import { Cards, TableRows } from './table/table-rows.tsx';
import { useTableState } from './table/use-table-state.ts';

export type { Column } from './table/column.ts';

export interface DataListProps<Row> {
  /** The list's name for screen readers. */
  label: string;
  /** The same array until the rows change, because it is indexed for the search; there may be thousands of rows. */
  rows: readonly Row[];
  idOf: (row: Row) => string;
  /** The first column names the row. */
  columns: readonly [Column<Row>, ...Column<Row>[]];
  actions?: (row: Row) => ReactNode;
  /**
   * The prefix of the names under which search, sorting and page are kept in the URL. It is `''` for a page's main list. Absent: they are
   * not kept there.
   */
  address?: string;
  /** The label of the search. Default: `Search`, and the list's name. */
  searchLabel?: string;
  /** Hides the search, because the page has fields of its own that filter the rows. */
  isNarrowed?: boolean;
  /**
   * Whether there are further rows, for a list that is fetched page by page. Such a list has no pages here, and is searched and sorted only
   * once it is complete.
   */
  hasMore?: boolean;
}

/** The number of rows on a page. */
const pageSize = 50;

/** A list of at most this many rows has no search. */
const maxUnsearchedRows = 7;

const { Code: TableBar } = lazyCode(
  () => import('./table/table-bar.tsx'),
  ({ TableBar }) => TableBar,
);
const { Code: TablePager } = lazyCode(
  () => import('./table/table-bar.tsx'),
  ({ TablePager }) => TablePager,
);

/** A table that is searched, sorted and paged in the browser. On a phone, it is a list with a card for each row. */
export function DataList<Row>({
  label,
  rows,
  idOf,
  columns,
  actions,
  address,
  searchLabel,
  isNarrowed = false,
  hasMore,
}: DataListProps<Row>) {
  const isPhone = useIsPhone();
  const place = useRef<HTMLDivElement>(null);
  const state = useTableState(address);
  const { search, sorting, page, setSearch, setSorting, setPage, reset } = state;
  const isWhole = hasMore !== true;
  // The field shows a letter at once. The rows follow when they are rendered.
  const wanted = isWhole && !isNarrowed ? search : '';
  const sought = useDeferredValue(wanted);
  const order = isWhole ? sorting : undefined;
  const index = useMemo(() => indexRows(rows, columns), [rows, columns]);
  const found = useMemo(
    () => arrangeRows(index, sought, order && { column: order.column, down: order.down }),
    [index, sought, order?.column, order?.down],
  );
  const size = hasMore === undefined ? pageSize : Math.max(1, rows.length);
  const pages = Math.max(1, Math.ceil(found.length / size));
  const at = Math.min(page, pages - 1);
  const shown = useMemo(() => found.slice(at * size, (at + 1) * size), [found, at, size]);

  const sortable = isWhole && rows.length > 1 ? columns.filter(({ sortBy }) => sortBy) : [];
  const isSearched = wanted.trim() !== '';
  const hasSearch =
    isWhole &&
    !isNarrowed &&
    (isSearched || rows.length > maxUnsearchedRows) &&
    columns.some((column) => column.sortBy ?? column.search);
  const goTo = (next: number): void => {
    setPage(next);
    const { current } = place;
    current?.querySelector('[role=region]')?.scrollTo({ top: 0 });
    if (current && current.getBoundingClientRect().top < 0) current.scrollIntoView();
  };
  const rowsProps = { label, rows: shown, idOf, columns, ...(actions && { actions }) };
  const counts = { found: found.length, all: rows.length, from: at * size, shown: shown.length };
  return (
    <div ref={place} className="table-place" aria-busy={sought !== wanted}>
      <Suspense fallback={null}>
        {hasSearch || pages > 1 || (sortable.length > 0 && (isPhone || order)) ? (
          <TableBar
            search={
              hasSearch ? { label: searchLabel ?? `Search ${label}`, value: search, onChange: setSearch } : undefined
            }
            sort={
              isPhone && sortable.length > 0 ? { columns: sortable, sorting: order, onSort: setSorting } : undefined
            }
            onReset={isSearched || order ? reset : undefined}
            counts={counts}
            isSearched={isSearched}
          />
        ) : null}
      </Suspense>
      {found.length === 0 && rows.length > 0 ? (
        <section className="panel">
          <Empty title="Nothing matches">Use fewer or other words, or reset the search.</Empty>
        </section>
      ) : isPhone ? (
        <Cards {...rowsProps} />
      ) : (
        <TableRows
          {...rowsProps}
          sortable={sortable.length > 0}
          sorting={order}
          isNumeric={(key) => typeof index.valuesOf(key)?.find((value) => value !== undefined) === 'number'}
          onSort={setSorting}
        />
      )}
      <Suspense fallback={null}>
        {pages > 1 ? <TablePager label={label} page={at} pages={pages} onPage={goTo} /> : null}
      </Suspense>
    </div>
  );
}

/** Returns whether the screen has room for one column only. */
export function useIsPhone(): boolean {
  return useMediaQuery('(max-width: 47.99em)', undefined, { getInitialValueInEffect: false });
}
