import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { anchorsOf } from '../../../../docs/pages.ts';

it('every page of the console leads to a page and a heading of the documentation that exist', () => {
  const source = readFileSync('services/console/web/shell/pages.ts', 'utf8');
  const named = Array.from(source.matchAll(/^ {4}docs: '([\w-]+)(?:#([\w-]+))?',$/gm), ([, page = '', anchor]) => ({
    page,
    anchor,
  }));
  expect(named.length).toBe(source.match(/^ {4}path: /gm)?.length);
  for (const { page, anchor } of named) {
    const anchors = anchorsOf(readFileSync(`docs/${page}.md`, 'utf8'));
    if (anchor !== undefined) expect([page, ...anchors]).toContain(anchor);
  }
});
