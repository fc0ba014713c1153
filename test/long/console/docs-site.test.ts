import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildDocs } from '#services/console/build/build-docs.ts';
import { docsFolder } from '#services/console/build/pages-stamp.ts';
import { shareConsole } from '../../helpers/console/console-with-ada.ts';
import { openConsolePage, phone, wide } from '../../helpers/console/console-page.ts';
import { violationsInBothSchemes } from '../../helpers/console/page-checks.ts';
import { openPageAs } from '../../helpers/console/open-as.ts';

const root = join(import.meta.dirname, '..', '..', '..');

beforeAll(() => buildDocs(root), 300_000);

describe("the documentation's site", () => {
  it('has a page for every page of the project, with links to pages and headings that exist', () => {
    const pages = readSite();
    expect(pages.size).toBe(
      globSync('docs/**/*.md', { cwd: root }).length + ['README', 'CHANGELOG', 'SECURITY', '404'].length,
    );
    const links = [...pages].flatMap(([path, html]) =>
      Array.from(html.matchAll(/<a [^>]*href="([^"]+)"/g), ([, href = '']) => ({ path, href })),
    );
    const inside = links.filter(({ href }) => href.startsWith('/docs/') || href.startsWith('#'));
    expect(inside.length).toBeGreaterThan(1_000);
    const broken = inside.filter(({ path, href }) => {
      const [page = '', anchor] = href.split('#');
      const target = pages.get(page === '' ? path : page);
      return target === undefined || (anchor !== undefined && !target.includes(` id="${decodeURIComponent(anchor)}"`));
    });
    expect(broken).toEqual([]);
  });

  it('has no script and no style in its HTML, and no file of another host', () => {
    for (const html of readSite().values()) {
      expect(html).not.toMatch(/<style| style="|<script[^>]*>[^<]| on\w+="/);
      expect(html).not.toMatch(/<(?:script|link|img)[^>]* (?:src|href)="(?:https?:)?\/\//);
    }
  });
});

describe("the documentation's site in a browser", { tags: ['chromium'] }, () => {
  const here = shareConsole();

  it('is found by a search, and follows links, with nothing from other hosts', async () => {
    const { page } = await openConsolePage(here.cluster.url);
    await page.goto('/docs');
    await page.getByRole('heading', { level: 1, name: 'Model Router' }).waitFor();
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('searchbox').fill('revoke a key');
    await page.getByRole('option').first().click();
    await page.waitForURL(/\/docs\/[\w-]+#/);
    await page.goto('/docs/operations');
    await page.getByRole('link', { name: 'Upgrades', exact: true }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Upgrades' }).waitFor();
    await page.getByRole('link', { name: 'The way back' }).first().click();
    await page.waitForURL('**/docs/upgrades#the-way-back');
    expect(new URL(page.url()).origin).toBe(here.cluster.url);
  });

  it.each(Object.entries({ wide, phone }))('is accessible: %s', async (name, look) => {
    const { page } = await openConsolePage(here.cluster.url, { look });
    const problems: string[] = [];
    for (const path of ['/docs/', '/docs/api', '/docs/decisions/']) {
      await page.goto(path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      problems.push(...(await violationsInBothSchemes(page)).map((problem) => `${name} ${path}: ${problem}`));
    }
    expect(problems).toEqual([]);
  });

  it('is linked from the pages of the console', async () => {
    const { page } = await openPageAs(here.ada, '/keys');
    const link = page.getByRole('link', { name: 'Docs', exact: true });
    expect(await link.getAttribute('href')).toBe('/docs/accounts#keys');
  });
});

/** The HTML of each page by its path. */
function readSite(): Map<string, string> {
  const folder = join(root, docsFolder);
  return new Map(
    globSync('**/*.html', { cwd: folder }).map((file) => [
      `/docs/${file.replace(/\.html$/, '').replace(/(^|\/)index$/, '$1')}`,
      readFileSync(join(folder, file), 'utf8'),
    ]),
  );
}
