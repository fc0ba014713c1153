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
  down: boolean;
}

/** Rows with their words for the search and their sort values. Both are computed once, at their first use. */
export interface RowIndex<Row> {
  rows: readonly Row[];
  wordsOf: () => readonly string[];
  valuesOf: (column: string) => readonly SortValue[] | undefined;
}

/** Returns the name of a column in the URL. */
export function columnKey({ label }: Pick<ArrangedColumn<never>, 'label'>): string {
  return label.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}

/** Returns a text without case and accents that sorts `key 2` before `key 10`. */
function sortable(text: string): string {
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
    wordsOf: () => (words ??= rows.map((row) => foldText(columns.map((column) => textOf(column, row)).join('\n')))),
    valuesOf: (key) => {
      const known = values.get(key);
      const sortBy = columns.find((column) => columnKey(column) === key)?.sortBy;
      if (known || !sortBy) return known;
      const found = rows.map((row) => {
        const value = sortBy(row);
        return typeof value === 'string' ? sortable(value) : value;
      });
      values.set(key, found);
      return found;
    },
  };
}

function textOf<Row>({ search, sortBy }: ArrangedColumn<Row>, row: Row): string {
  if (search) return search(row);
  const value = sortBy?.(row);
  return typeof value === 'string' ? value : '';
}

/** Returns the rows that contain all words of a search, sorted as wanted. If `sorting` is undefined, they keep their order. */
export function arrangeRows<Row>(index: RowIndex<Row>, search: string, sorting: Sorting | undefined): readonly Row[] {
  const sought = foldText(search).split(/\s+/).filter(Boolean);
  const values = sorting && index.valuesOf(sorting.column);
  if (sought.length === 0 && !values) return index.rows;
  const words = sought.length === 0 ? [] : index.wordsOf();
  let places = index.rows.map((_, place) => place);
  if (sought.length > 0) places = places.filter((place) => sought.every((word) => words[place]?.includes(word)));
  if (values) places.sort((one, other) => compare(values[one], values[other], sorting.down) || one - other);
  return places.flatMap((place) => index.rows.slice(place, place + 1));
}

function compare(one: SortValue, other: SortValue, down: boolean): number {
  if (one === other) return 0;
  if (one === undefined) return 1;
  if (other === undefined) return -1;
  return one < other === down ? 1 : -1;
}
