import { describe, expect, it } from 'vitest';
import {
  arrangeRows,
  toColumnKey,
  indexRows,
  type ArrangedColumn,
} from '#services/console/web/parts/table/arrange-rows.ts';

interface Row {
  name: string;
  email?: string;
  used?: number;
}

const columns: ArrangedColumn<Row>[] = [
  { label: 'Name', sortBy: ({ name }) => name, search: ({ name, email = '' }) => `${name} ${email}` },
  { label: 'Last used', sortBy: ({ used }) => used },
];
const rows: Row[] = [
  { name: 'key 10', used: 5 },
  { name: 'Key 2', email: 'zoe@example.com' },
  { name: 'Élan', used: 7 },
  { name: 'key 1', used: 5 },
];

function arranged(search: string, column?: string, down = false): string[] {
  const found = arrangeRows(
    indexRows(rows, columns),
    search,
    column === undefined ? undefined : { column, isDescending: down },
  );
  return found.map(({ name }) => name);
}

describe('rows of a table', () => {
  it('stay as they are without a search and an order, or with the order of an unknown column', () => {
    expect(arrangeRows(indexRows(rows, columns), ' ', undefined)).toBe(rows);
    expect(arranged('', 'colour')).toEqual(['key 10', 'Key 2', 'Élan', 'key 1']);
  });

  it('are sorted without regard to case and accents, and numbers by their size', () => {
    expect(arranged('', 'name')).toEqual(['Élan', 'key 1', 'Key 2', 'key 10']);
    expect(arranged('', 'name', true)).toEqual(['key 10', 'Key 2', 'key 1', 'Élan']);
  });

  it('come last in both directions where they have no value, and keep their order where values are equal', () => {
    expect(arranged('', toColumnKey({ label: 'Last used' }))).toEqual(['key 10', 'key 1', 'Élan', 'Key 2']);
    expect(arranged('', 'last-used', true)).toEqual(['Élan', 'key 10', 'key 1', 'Key 2']);
  });

  it('are found by all words, in any order, without regard to case and accents', () => {
    expect(arranged('ELAN')).toEqual(['Élan']);
    expect(arranged('zoe KEY')).toEqual(['Key 2']);
    expect(arranged('key', 'name', true)).toEqual(['key 10', 'Key 2', 'key 1']);
    expect(arranged('key zebra')).toEqual([]);
    // A number is sorted by, and not searched.
    expect(arranged('7')).toEqual([]);
  });
});
