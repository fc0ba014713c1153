// @module-tag chromium
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { askChat } from '../../helpers/console/ask-chat.ts';
import { openConsolePage, phone, waitUntilLoaded, wide } from '../../helpers/console/console-page.ts';
import { violationsInBothSchemes } from '../../helpers/console/page-checks.ts';
import { shareConsole } from '../../helpers/console/console-with-ada.ts';
import { openAs, openPageAs } from '../../helpers/console/open-as.ts';
import { until } from '../../helpers/until.ts';

const pages = [
  ['/', 'Overview'],
  ['/workers', 'Workers'],
  ['/models', 'Models'],
  ['/playground', 'Playground'],
  ['/tools', 'Tools'],
  ['/tools/calculator', 'calculator'],
  ['/keys', 'API keys'],
  ['/batches', 'Batches'],
  ['/files', 'Files'],
  ['/webhooks', 'Webhooks'],
  ['/sessions', 'Agent sessions'],
  ['/requests', 'Requests'],
  ['/usage', 'Usage'],
  ['/admin/people', 'Admin'],
  ['/admin/invitations', 'Admin'],
  ['/admin/teams', 'Admin'],
  ['/admin/router-keys', 'Admin'],
  ['/admin/registry', 'Admin'],
  ['/admin/prices', 'Admin'],
  ['/admin/background', 'Admin'],
  ['/admin/audit', 'Admin'],
  ['/admin/settings', 'Admin'],
  ['/account', 'Account'],
  ['/nowhere', 'No such page'],
] as const;

/** Where pictures of all pages are kept, for people to look at. */
const pictures = process.env['PICTURES'];

describe("the console's pages", () => {
  const here = shareConsole();

  beforeAll(async () => {
    await here.cluster.addToolsWorker();
    for (const prompt of ['Hello!', 'Fail now.\n[demo fault=500]']) await askChat(here.cluster, prompt);
  });

  /** What is wrong with a page as it is shown now, in both colour schemes. */
  async function problemsOf(page: Page, name: string): Promise<string[]> {
    const problems = await violationsInBothSchemes(page);
    if (pictures !== undefined)
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.screenshot({ path: join(pictures, `${name}-${colorScheme}.png`), fullPage: true });
      }
    if (await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth'))
      problems.push('is wider than the screen');
    return problems.map((problem) => `${name}: ${problem}`);
  }

  it.each(Object.entries({ wide, phone }))('are accessible: %s', async (name, look) => {
    const { page } = await openAs(here.ada, { look });
    const problems: string[] = [];
    for (const [path, title] of pages) {
      await page.goto(path);
      await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
      await waitUntilLoaded(page);
      problems.push(...(await problemsOf(page, `${name}${path.replaceAll('/', '-')}`)));
      for (const alert of await page.getByRole('alert').all()) problems.push(`${path}: ${await alert.innerText()}`);
    }
    expect(problems).toEqual([]);
  });

  it.each(Object.entries({ wide, phone }))('are accessible before the sign-in: %s', async (name, look) => {
    const { page } = await openConsolePage(here.cluster.url, { look });
    await page.goto('/keys');
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    const problems = await problemsOf(page, `${name}-sign-in`);
    await page.goto('/link/of-nobody');
    await page.getByText('This link cannot be used').waitFor();
    expect([...problems, ...(await problemsOf(page, `${name}-used-link`))]).toEqual([]);
  });

  it('block an inline script by their policy, and this test notices', async () => {
    const { page, troubles } = await openPageAs(here.ada, '/');
    const append = (tag: string, fields: object): Promise<unknown> => {
      const element = `Object.assign(document.createElement('${tag}'), ${JSON.stringify(fields)})`;
      return page.evaluate(`document.body.append(${element})`);
    };
    await append('script', { text: 'window.ran = true' });
    expect(await page.evaluate('window.ran')).toBeUndefined();
    await append('img', { src: 'http://127.0.0.2:9/x.png' });
    await until(() => expect(troubles.length).toBeGreaterThanOrEqual(2));
    // They are expected here.
    troubles.length = 0;
  });

  it('can be used with the keyboard alone: the menu, a dialog, and back', async () => {
    const { page } = await openPageAs(here.ada, '/keys');
    await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
    await page.getByRole('button', { name: 'New key' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByLabel('Name').waitFor();
    await until(() => page.evaluate<boolean>('document.activeElement.closest("[role=dialog]") !== null'));
    await page.keyboard.press('Escape');
    await until(async () => expect(await page.getByRole('dialog').count()).toBe(0));
    await until(async () => expect(await page.evaluate('document.activeElement.textContent')).toBe('New key'));
    await page.getByRole('link', { name: 'Workers' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Workers' }).waitFor();
    await until(async () => expect(await page.evaluate('document.activeElement.tagName')).toBe('H1'));
    await until(async () => expect(await page.title()).toBe('Workers · Model Router'));
  });

  it('have the menu behind a button on a phone', async () => {
    const { page } = await openPageAs(here.ada, '/', { look: phone });
    await page.getByRole('button', { name: 'Open the menu' }).click();
    await page.getByRole('link', { name: 'Models' }).click();
    await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor();
    await page.getByRole('button', { name: 'Open the menu' }).waitFor();
    const link = page.getByRole('link', { name: 'Models' });
    await until(async () => expect((await link.boundingBox())?.x).toBeLessThan(0));
  });

  it('keep a chosen colour scheme', async () => {
    const { page } = await openPageAs(here.ada, '/', { isAlone: true });
    await page.getByRole('button', { name: 'Colours: System' }).click();
    await page.getByRole('menuitemradio', { name: 'Dark' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Colours: Dark' }).waitFor();
    expect(await page.evaluate(`document.documentElement.dataset.mantineColorScheme`)).toBe('dark');
  });
});
