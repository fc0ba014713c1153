import type { Place } from './cases.ts';

/** The rows of the documentation's tables of fields, by table and then by upstream or client format. */
export type Tables = ReadonlyMap<string, readonly Row[]>;

interface Row {
  field: string;
  /** The effect, by the format in the column's heading. */
  effects: Readonly<Record<string, string>>;
}

/** Reads the tables of `docs/translation.md`. */
export function readTables(page: string): Tables {
  const tables = page.matchAll(/<!-- table fields:(\S+) -->([\s\S]*?)<!-- \/table -->/g);
  return new Map([...tables].map(([, name = '', text = '']) => [name, rowsOf(text)]));
}

function rowsOf(text: string): Row[] {
  const [head = [], , ...rows] = text
    .trim()
    .split('\n')
    .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()));
  const formats = head.slice(2, -1).map((heading) => heading.split(' ')[0] ?? '');
  return rows.map((cells) => ({
    field: (cells[1] ?? '').replaceAll('`', ''),
    effects: Object.fromEntries(formats.map((format, at) => [format, cells[at + 2] ?? ''])),
  }));
}

/**
 * Whether a table says of a place that it has no effect on the format: by a row of it, or of what it is in. What follows the path in
 * a row's name (`… document, citations`) names types of objects or fields.
 */
export function isAnnounced(tables: Tables, table: string, format: string, { path: given, types }: Place): boolean {
  // What blocks in blocks have is as in others.
  const path = given.replace('content[].content[]', 'content[]').replace(/(?:\w+\[\]\.)*tools\[\]/, 'tools[]');
  const words = [...path.split(/[.[\]]+/), ...types];
  const isNamed = (word: string): boolean => words.some((each) => each === word || each.startsWith(`${word}_`));
  return (tables.get(table) ?? []).some(({ field, effects }) => {
    if (!/^Ignored|not offered/.test(effects[format] ?? '')) return false;
    const [prefix = '', ...further] = field.split(/[\s,]+/);
    const isIn = [given, path].some(
      (each) => each === prefix || (/^[.[]/.test(each.slice(prefix.length)) && each.startsWith(prefix)),
    );
    return isIn && (further.length === 0 || further[1] === 'other' || further.some(isNamed));
  });
}
