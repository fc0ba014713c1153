import { Button, Group, NativeSelect, Text, TextInput } from '@mantine/core';
import { formatCount } from '../format.ts';
import { toColumnKey, type Sorting } from './arrange-rows.ts';

export interface TableBarProps {
  search: { label: string; value: string; onChange: (search: string) => void } | undefined;
  /** Absent if the table has a head to click. */
  sort:
    | {
        columns: readonly { label: string }[];
        sorting: Sorting | undefined;
        onSort: (sorting: Sorting | undefined) => void;
      }
    | undefined;
  onReset: (() => void) | undefined;
  /** The number of found rows and of all rows, the index of the first shown row, and the number of shown rows. */
  counts: { found: number; all: number; from: number; shown: number };
  isSearched: boolean;
}

/**
 * The bar above a list, with the list's search, its sorting on a phone, the number of shown rows, and a button that resets search and
 * sorting.
 */
export function TableBar({ search, sort, onReset, counts, isSearched }: TableBarProps) {
  return (
    <Group gap="sm" mb="xs" align="flex-end">
      {search ? (
        <TextInput
          type="search"
          aria-label={search.label}
          placeholder={search.label}
          autoComplete="off"
          spellCheck={false}
          maxLength={200}
          style={{ flex: '1 1 14rem', maxWidth: '24rem' }}
          value={search.value}
          onChange={({ currentTarget }) => search.onChange(currentTarget.value)}
        />
      ) : null}
      {sort ? (
        <NativeSelect
          aria-label="Sort by"
          value={sort.sorting ? toOptionValue(sort.sorting) : ''}
          onChange={({ currentTarget: { value } }) =>
            sort.onSort(
              value === '' ? undefined : { column: value.replace(/^-/, ''), isDescending: value.startsWith('-') },
            )
          }
          data={[
            { value: '', label: 'Usual order' },
            ...sort.columns.flatMap((column) => [
              { value: toColumnKey(column), label: `${column.label}, ascending` },
              { value: `-${toColumnKey(column)}`, label: `${column.label}, descending` },
            ]),
          ]}
        />
      ) : null}
      {onReset ? (
        <Button variant="default" onClick={onReset}>
          Reset
        </Button>
      ) : null}
      <Text size="sm" c="dimmed" role="status" className="numeric table-count">
        {describeCounts(counts, isSearched)}
      </Text>
    </Group>
  );
}

function toOptionValue({ column, isDescending }: Sorting): string {
  return `${isDescending ? '-' : ''}${column}`;
}

function describeCounts({ found, all, from, shown }: TableBarProps['counts'], isSearched: boolean): string {
  const foundText = `${formatCount(found)}${isSearched ? ` found in ${formatCount(all)}` : ''}`;
  return shown < found ? `${formatCount(from + 1)}–${formatCount(from + shown)} of ${foundText}` : foundText;
}

export interface TablePagerProps {
  label: string;
  /** 0 for the first page. */
  page: number;
  pageCount: number;
  onPage: (page: number) => void;
}

/** Buttons that lead through the pages of a list. A button without a target keeps the focus, and does nothing. */
export function TablePager({ label, page, pageCount, onPage }: TablePagerProps) {
  const renderStep = (name: string, to: number) => {
    const isDisabled = to < 0 || to >= pageCount || to === page;
    return (
      <Button
        size="xs"
        variant="default"
        aria-disabled={isDisabled}
        {...(isDisabled && { 'data-disabled': true })}
        onClick={() => (isDisabled ? undefined : onPage(to))}
      >
        {name}
      </Button>
    );
  };
  return (
    <Group component="nav" aria-label={`Pages of ${label}`} gap="xs" justify="center" mt="xs">
      {renderStep('First', 0)}
      {renderStep('Previous', page - 1)}
      <Text size="sm" className="numeric">
        Page {formatCount(page + 1)} of {formatCount(pageCount)}
      </Text>
      {renderStep('Next', page + 1)}
      {renderStep('Last', pageCount - 1)}
    </Group>
  );
}
