import { Button, Group, NativeSelect, Text, TextInput } from '@mantine/core';
import { formatCount } from '../format.ts';
import { columnKey, type Sorting } from './arrange-rows.ts';

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

/** The bar above a list, with its search, its sorting on a phone, how much of it is shown, and a button that resets these. */
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
          value={sort.sorting ? nameOf(sort.sorting) : ''}
          onChange={({ currentTarget: { value } }) =>
            sort.onSort(value === '' ? undefined : { column: value.replace(/^-/, ''), down: value.startsWith('-') })
          }
          data={[
            { value: '', label: 'Usual order' },
            ...sort.columns.flatMap((column) => [
              { value: columnKey(column), label: `${column.label}, ascending` },
              { value: `-${columnKey(column)}`, label: `${column.label}, descending` },
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
        {countText(counts, isSearched)}
      </Text>
    </Group>
  );
}

function nameOf({ column, down }: Sorting): string {
  return `${down ? '-' : ''}${column}`;
}

function countText({ found, all, from, shown }: TableBarProps['counts'], isSearched: boolean): string {
  const whole = `${formatCount(found)}${isSearched ? ` found in ${formatCount(all)}` : ''}`;
  return shown < found ? `${formatCount(from + 1)}–${formatCount(from + shown)} of ${whole}` : whole;
}

export interface TablePagerProps {
  label: string;
  /** 0 for the first. */
  page: number;
  pages: number;
  onPage: (page: number) => void;
}

/** Buttons that lead through the pages of a list. A button without a target keeps the focus, and does nothing. */
export function TablePager({ label, page, pages, onPage }: TablePagerProps) {
  const step = (name: string, to: number) => {
    const isOff = to < 0 || to >= pages || to === page;
    return (
      <Button
        size="xs"
        variant="default"
        aria-disabled={isOff}
        {...(isOff && { 'data-disabled': true })}
        onClick={() => (isOff ? undefined : onPage(to))}
      >
        {name}
      </Button>
    );
  };
  return (
    <Group component="nav" aria-label={`Pages of ${label}`} gap="xs" justify="center" mt="xs">
      {step('First', 0)}
      {step('Previous', page - 1)}
      <Text size="sm" className="numeric">
        Page {formatCount(page + 1)} of {formatCount(pages)}
      </Text>
      {step('Next', page + 1)}
      {step('Last', pages - 1)}
    </Group>
  );
}
