import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { anchorsOf, proseOf, readPages } from './pages.ts';

/** A link or a mention of a page, and the file that contains it. */
interface Reference {
  from: string;
  /** Path from the root of the project. */
  path: string;
  /** Without `#`; undefined when the reference names no heading. */
  anchor: string | undefined;
}

describe('the documentation', () => {
  it('links only to files and headings that exist', () => {
    const references = readPages().flatMap(({ path, text }) => linksOf(path, text));
    expect(references.length).toBeGreaterThan(50);
    expect(references.filter((reference) => !exists(reference))).toEqual([]);
  });

  it('is mentioned by code and configuration only with pages and headings that exist', () => {
    const files = globSync(['{services,shared,deploy}/**/*', 'docker-compose.yml', 'test/deploy/**/*.yml']);
    const isRead = (file: string) => /\.(?:tsx?|mjs|lua|ya?ml|json|conf|cfg|tpl|txt|sh)$|Dockerfile$/.test(file);
    const mentions = files
      .filter((file) => isRead(file) && !file.includes('/dist/') && statSync(file).isFile())
      .flatMap((file) => mentionsOf(file, readFileSync(file, 'utf8')));
    expect(mentions.length).toBeGreaterThan(20);
    expect(mentions.filter((mention) => !exists(mention))).toEqual([]);
  });
});

it('the tests that the documentation names exist, with their titles', () => {
  const named = readPages().flatMap(({ path: page, text }) =>
    Array.from(
      text.matchAll(/`(?:test\/)?([a-z][\w./-]+\.test\.ts)`((?:,? "[^"]+")*)/g),
      ([, file = '', titles = '']) => ({
        page,
        file: join('test', file),
        titles: Array.from(titles.matchAll(/"([^"]+)"/g), ([, title = '']) => title),
      }),
    ),
  );
  expect(named.length).toBeGreaterThan(50);
  const isThere = ({ file, titles }: (typeof named)[number]): boolean =>
    existsSync(file) && titles.every((title) => readFileSync(file, 'utf8').includes(title));
  expect(named.filter((each) => !isThere(each))).toEqual([]);
});

/** The relative links of a page. */
function linksOf(from: string, text: string): Reference[] {
  return [...proseOf(text).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
    if (/^[a-z]+:/.test(target)) return [];
    const [file = '', anchor] = target.split('#');
    return { from, path: file === '' ? from : normalize(join(dirname(from), file)), anchor };
  });
}

/** What a text says about pages: `docs/operations.md#rtrnoingress`, `README.md`. */
function mentionsOf(from: string, text: string): Reference[] {
  const found = text.matchAll(/(?<![\w/])((?:docs\/[\w./-]+|README)\.md)(?:#([\w-]+))?/g);
  return Array.from(found, ([, path = '', anchor]) => ({ from, path, anchor }));
}

function exists({ path, anchor }: Reference): boolean {
  if (!existsSync(path)) return false;
  return anchor === undefined || anchorsOf(readFileSync(path, 'utf8')).has(anchor);
}
