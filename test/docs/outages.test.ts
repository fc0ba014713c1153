import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

interface Promised {
  outage: string;
  part: string;
  promise: string;
  /** File and title of the test that shows it; undefined where the table names none. */
  shownBy: { file: string; title: string } | undefined;
}

const promises = readOutages(readFileSync('docs/architecture.md', 'utf8'));

describe('the outages of docs/architecture.md', () => {
  it('cover every dependency', () => {
    expect(new Set(promises.map(({ outage }) => outage)).size).toBe(10);
    expect(promises.length).toBeGreaterThan(35);
  });

  it('name a test for each promise', () => {
    const unproven = promises.filter(({ promise, shownBy }) => !shownBy && !promise.startsWith('Nothing changes'));
    expect(unproven).toEqual([]);
  });

  it('name only tests that exist', () => {
    const named = promises.flatMap(({ shownBy }) => shownBy ?? []);
    expect(named.filter(({ file, title }) => !existsSync(file) || !hasTest(file, title))).toEqual([]);
  });
});

/** Every row of the tables below the heading "Outages". */
function readOutages(page: string): Promised[] {
  const [, rest = ''] = page.split('\n## Outages\n');
  const [section = ''] = rest.split('\n## ');
  return section.split('\n### ').flatMap((table) => {
    const [outage = '', ...lines] = table.split('\n');
    const rows = lines.filter((line) => line.startsWith('| ')).map((line) => line.split(/ *\| */));
    let part = '';
    return rows
      .filter(([, first]) => first !== 'part')
      .map(([, first = '', promise = '', shown = '']) => {
        part = first === '' ? part : first;
        const [, file, title] = /^`(test\/\S+)` "(.+)"$/.exec(shown) ?? [];
        return { outage, part, promise, shownBy: file && title ? { file, title } : undefined };
      });
  });
}

function hasTest(file: string, title: string): boolean {
  const source = readFileSync(file, 'utf8');
  return [`'${title}'`, `"${title}"`, `\`${title}\``].some((quoted) => source.includes(quoted));
}
