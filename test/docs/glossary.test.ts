import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const page = 'docs/glossary.md';

/** Its rows: a term, what it means, and the link to its code. */
const rows = readFileSync(page, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| term '))
  .map((line) => line.split(/ *\| */).slice(1, 4));

describe('the glossary', () => {
  it('has at most 70 words, each with one meaning', () => {
    const terms = rows.flatMap(([term = '']) => term.split(', '));
    expect(rows.length).toBeLessThanOrEqual(70);
    expect(new Set(terms).size).toBe(terms.length);
    expect(rows.filter(([, meaning]) => meaning === '')).toEqual([]);
  });

  it('links each word to the file or folder where it lives', () => {
    const paths = rows.map(([term, , link = '']) => ({ term, path: /\]\((\S+)\)/.exec(link)?.[1] }));
    expect(paths.filter(({ path }) => path === undefined || !existsSync(join(dirname(page), path)))).toEqual([]);
  });
});
