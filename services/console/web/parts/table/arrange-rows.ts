import type { ReactNode } from 'react';

/** The value by which a column sorts a row. Rows without a value come last. */
export type SortValue = string | number | undefined;

export interface ArrangedColumn<Row> {
  label: string;
  /** Returns the value to sort by, which depends on the row alone. Texts are also searched. Absent: rows cannot be sorted by the column. */
  sortBy?: (row: Row) => SortValue;
  /** Returns the words by which a row is found, if they differ from the sort value. */
  search?: (row: Row) => string;
}

/** The column to sort by, and whether the greatest values come first. */
export interface Sorting {
  /** For example `last-used`, for the column `Last used`. */
  column: string;
  isDescending: boolean;
}

/** Rows with their words for the search and their sort values. Both are computed once, at their first use. */
export interface RowIndex<Row> {
  rows: readonly Row[];
  readWords: () => readonly string[];
  readValues: (column: string) => readonly SortValue[] | undefined;
}

/** Returns the name of a column in the URL. */
export function toColumnKey({ label }: Pick<ArrangedColumn<never>, 'label'>): string {
  return label.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}

/** Returns a text without case and accents that sorts `key 2` before `key 10`. */
function toSortText(text: string): string {
  return foldText(text).replaceAll(/\d+/g, (digits) => digits.padStart(12, '0'));
}

/** Returns a text without case and accents. */
export function foldText(text: string): string {
  return text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();
}

export function indexRows<Row>(rows: readonly Row[], columns: readonly ArrangedColumn<Row>[]): RowIndex<Row> {
  let words: string[] | undefined;
  const values = new Map<string, SortValue[]>();
  return {
    rows,
    readWords: () =>
      (words ??= rows.map((row) => foldText(columns.map((column) => readSearchText(column, row)).join('\n')))),
    readValues: (key) => {
      const knownValues = values.get(key);
      const sortBy = columns.find((column) => toColumnKey(column) === key)?.sortBy;
      if (knownValues || !sortBy) return knownValues;
      const newValues = rows.map((row) => {
        const value = sortBy(row);
        return typeof value === 'string' ? toSortText(value) : value;
      });
      values.set(key, newValues);
      return newValues;
    },
  };
}

function readSearchText<Row>({ search, sortBy }: ArrangedColumn<Row>, row: Row): string {
  if (search) return search(row);
  const value = sortBy?.(row);
  return typeof value === 'string' ? value : '';
}

/** Returns the rows that contain all words of a search, sorted as `sorting` says. If `sorting` is undefined, the rows keep their order. */
export function arrangeRows<Row>(index: RowIndex<Row>, search: string, sorting: Sorting | undefined): readonly Row[] {
  const searchWords = foldText(search).split(/\s+/).filter(Boolean);
  const values = sorting && index.readValues(sorting.column);
  if (searchWords.length === 0 && !values) return index.rows;
  const words = searchWords.length === 0 ? [] : index.readWords();
  let indexes = index.rows.map((_, place) => place);
  if (searchWords.length > 0)
    indexes = indexes.filter((place) => searchWords.every((word) => words[place]?.includes(word)));
  if (values) indexes.sort((a, b) => compareValues(values[a], values[b], sorting.isDescending) || a - b);
  return indexes.flatMap((place) => index.rows.slice(place, place + 1));
}

function compareValues(a: SortValue, b: SortValue, isDescending: boolean): number {
  if (a === b) return 0;
  if (a === undefined) return 1;
  if (b === undefined) return -1;
  return a < b === isDescending ? 1 : -1;
}

export interface Column<Row> extends ArrangedColumn<Row> {
  /** Absent: the cell shows the value of `sortBy`. */
  render?: (row: Row) => ReactNode;
  /** Returns the text of a number that a cell shows without `render`. */
  format?: (value: number) => string;
  /** Aligns numbers to the right. */
  isNumber?: boolean;
  /** Hides the column on a phone. */
  wideOnly?: boolean;
}
