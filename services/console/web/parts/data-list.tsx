import { useMediaQuery } from '@mantine/hooks';
import { Suspense, useDeferredValue, useMemo, useRef, type ReactNode } from 'react';
import { createLazyCode } from './lazy-code.tsx';
import { EmptyPanel } from './loaded.tsx';
import { arrangeRows, indexRows, type Column } from './table/arrange-rows.ts';
import { Cards, TableRows } from './table/table-rows.tsx';
import { useTableState } from './table/use-table-state.ts';

export type { Column } from './table/arrange-rows.ts';

export interface DataListProps<Row> {
  /** The list's name for screen readers. */
  label: string;
  /** Must be the same array until the rows change, because the array is indexed for the search, and may have thousands of rows. */
  rows: readonly Row[];
  getId: (row: Row) => string;
  /** The first column names the row. */
  columns: readonly [Column<Row>, ...Column<Row>[]];
  actions?: (row: Row) => ReactNode;
  /**
   * The prefix of the names under which search, sorting and page are kept in the URL. It is `''` for a page's main list. Absent: search,
   * sorting and page are not kept in the URL.
   */
  address?: string;
  /** The label of the search; default: `Search` followed by the list's name. */
  searchLabel?: string;
  /** Hides the search, because the page has fields of its own that filter the rows. */
  hasOwnFilters?: boolean;
  /**
   * Whether there are further rows, for a list that is fetched page by page. Such a list has no pages here. Search and sorting appear once
   * the list is complete.
   */
  hasMore?: boolean;
}

/** The number of rows on a page. */
const pageSize = 50;

/** The maximum number of rows of a list without a search. */
const maxUnsearchedRows = 7;

const { Code: TableBar } = createLazyCode(
  () => import('./table/table-bar.tsx'),
  ({ TableBar }) => TableBar,
);
const { Code: TablePager } = createLazyCode(
  () => import('./table/table-bar.tsx'),
  ({ TablePager }) => TablePager,
);

/** A table that is searched, sorted and paged in the browser. On a phone, it is a list with a card for each row. */
export function DataList<Row>({
  label,
  rows,
  getId,
  columns,
  actions,
  address,
  searchLabel,
  hasOwnFilters = false,
  hasMore,
}: DataListProps<Row>) {
  const isPhone = useIsPhone();
  const listElement = useRef<HTMLDivElement>(null);
  const state = useTableState(address);
  const { search, sorting, page, setSearch, setSorting, setPage, reset } = state;
  const isComplete = hasMore !== true;
  // The field shows a letter at once. The rows follow when they are rendered.
  const currentSearch = isComplete && !hasOwnFilters ? search : '';
  const deferredSearch = useDeferredValue(currentSearch);
  const order = isComplete ? sorting : undefined;
  const index = useMemo(() => indexRows(rows, columns), [rows, columns]);
  const foundRows = useMemo(
    () => arrangeRows(index, deferredSearch, order && { column: order.column, isDescending: order.isDescending }),
    [index, deferredSearch, order?.column, order?.isDescending],
  );
  const rowsPerPage = hasMore === undefined ? pageSize : Math.max(1, rows.length);
  const pageCount = Math.max(1, Math.ceil(foundRows.length / rowsPerPage));
  const shownPage = Math.min(page, pageCount - 1);
  const shownRows = useMemo(
    () => foundRows.slice(shownPage * rowsPerPage, (shownPage + 1) * rowsPerPage),
    [foundRows, shownPage, rowsPerPage],
  );

  const sortable = isComplete && rows.length > 1 ? columns.filter(({ sortBy }) => sortBy) : [];
  const isSearched = currentSearch.trim() !== '';
  const hasSearch =
    isComplete &&
    !hasOwnFilters &&
    (isSearched || rows.length > maxUnsearchedRows) &&
    columns.some((column) => column.sortBy ?? column.search);
  const goTo = (next: number): void => {
    setPage(next);
    const { current } = listElement;
    current?.querySelector('[role=region]')?.scrollTo({ top: 0 });
    if (current && current.getBoundingClientRect().top < 0) current.scrollIntoView();
  };
  const rowsProps = { label, rows: shownRows, getId, columns, ...(actions && { actions }) };
  const counts = { found: foundRows.length, all: rows.length, from: shownPage * rowsPerPage, shown: shownRows.length };
  return (
    <div ref={listElement} className="table-place" aria-busy={deferredSearch !== currentSearch}>
      <Suspense fallback={null}>
        {hasSearch || pageCount > 1 || (sortable.length > 0 && (isPhone || order)) ? (
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
      {foundRows.length === 0 && rows.length > 0 ? (
        <EmptyPanel title="Nothing matches">Use fewer or other words, or reset the search.</EmptyPanel>
      ) : isPhone ? (
        <Cards {...rowsProps} />
      ) : (
        <TableRows
          {...rowsProps}
          sortable={sortable.length > 0}
          sorting={order}
          isNumeric={(key) => typeof index.readValues(key)?.find((value) => value !== undefined) === 'number'}
          onSort={setSorting}
        />
      )}
      <Suspense fallback={null}>
        {pageCount > 1 ? <TablePager label={label} page={shownPage} pageCount={pageCount} onPage={goTo} /> : null}
      </Suspense>
    </div>
  );
}

/** Returns whether the screen has room for one column only. */
export function useIsPhone(): boolean {
  return useMediaQuery('(max-width: 47.99em)', undefined, { getInitialValueInEffect: false });
}
