import { describe, expect, it } from 'vitest';
import { proseOf, readPages } from './pages.ts';

/** Words that the glossary has replaced, and parts of speech that only people have. */
const retired =
  /\b(?:wish(?:es|ed)?|hears?|heard|forgiv(?:e|es|en)|tells?|told|pulse|desk|roll call|befell|in vain|patience|lets? go of|edge format|family)\b/i;

const pages = readPages();

describe('the documentation', () => {
  it('has a README of at most 250 lines', () => {
    const readme = pages.find(({ path }) => path === 'README.md');
    expect(readme?.text.split('\n').length).toBeLessThanOrEqual(250);
  });

  it('has lines of at most 140 characters, tables and generated lists aside', () => {
    const long = linesOf(withoutTables).filter(({ line }) => line.length > 140 && !line.startsWith('|'));
    expect(long).toEqual([]);
  });

  it('uses no retired word', () => {
    const prose = linesOf((text) => proseOf(withoutTables(text)));
    expect(prose.filter(({ line }) => retired.test(line.replaceAll(/`[^`]*`|"[^"]*"/g, '')))).toEqual([]);
  });
});

/** The lines of what is left of every page. */
function linesOf(rest: (text: string) => string) {
  return pages.flatMap(({ path, text }) =>
    rest(text)
      .split('\n')
      .map((line) => ({ path, line })),
  );
}

/** The page without its generated tables. */
function withoutTables(text: string): string {
  return text.replaceAll(/<!-- table \S+ -->[\s\S]*?<!-- \/table -->/g, '');
}
