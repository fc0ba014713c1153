import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  makeFirstAccount,
  openConsolePage,
  phone,
  seriousViolations,
  waitUntilLoaded,
  wide,
} from '../../helpers/console/console-page.ts';
import { chromiumPath, openBrowser } from '../../helpers/console/open-browser.ts';
import { startConsole, type ConsoleCluster } from '../../helpers/console/start-console.ts';
import { until } from '../../helpers/until.ts';

/** Every page, by its path and its title. */
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

const looks = {
  'wide-light': wide,
  'wide-dark': { ...wide, colorScheme: 'dark' },
  'phone-light': phone,
  'phone-dark': { ...phone, colorScheme: 'dark' },
} as const;

/** The folder for screenshots of all pages, for people to look at. */
const pictures = join(tmpdir(), 'rtr-console-pictures');

describe.skipIf(chromiumPath === undefined)("the console's pages", () => {
  let cluster: ConsoleCluster;
  let browser: Browser;
  let signedIn: Awaited<ReturnType<BrowserContext['storageState']>>;

  beforeAll(async () => {
    mkdirSync(pictures, { recursive: true });
    cluster = await startConsole();
    await cluster.addToolsWorker();
    browser = await openBrowser();
    const { page, context, troubles } = await openConsolePage(browser, cluster.url);
    await makeFirstAccount(page, cluster.firstLink);
    for (const prompt of ['Hello!', 'Tell me more.', 'Fail now.\n[demo fault=500]']) await ask(cluster, prompt);
    signedIn = await context.storageState();
    expect(troubles).toEqual([]);
    await context.close();
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await cluster?.stop();
  });

  it.each(Object.entries(looks))('are accessible: %s', async (name, look) => {
    const { page, context, troubles } = await openConsolePage(browser, cluster.url, look, signedIn);
    const problems: string[] = [];
    for (const [path, title] of pages) {
      await page.goto(path);
      await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
      await waitUntilLoaded(page);
      await page.screenshot({ path: join(pictures, `${name}${path.replaceAll('/', '-')}.png`), fullPage: true });
      for (const violation of await seriousViolations(page)) problems.push(`${path}: ${violation}`);
      if (look.width < 600 && (await overflows(page))) problems.push(`${path}: is wider than the screen`);
      if ((await page.getByRole('alert').count()) > 0) {
        problems.push(`${path}: ${await page.getByRole('alert').first().innerText()}`);
      }
    }
    expect([...problems, ...troubles]).toEqual([]);
    await context.close();
  });

  it.each(Object.entries(looks))('are accessible before the sign-in: %s', async (name, look) => {
    const { page, context, troubles } = await openConsolePage(browser, cluster.url, look);
    await page.goto('/keys');
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    await page.screenshot({ path: join(pictures, `${name}-sign-in.png`) });
    const problems = await seriousViolations(page);
    await page.goto('/link/of-nobody');
    await page.getByText('This link cannot be used').waitFor();
    await page.screenshot({ path: join(pictures, `${name}-used-link.png`) });
    expect([...problems, ...(await seriousViolations(page)), ...troubles]).toEqual([]);
    await context.close();
  });

  it('block an inline script by their policy, and this test notices', async () => {
    const { page, context, troubles } = await openConsolePage(browser, cluster.url, wide, signedIn);
    await page.goto('/');
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement('script'), { text: 'window.ran = true' }))`,
    );
    expect(await page.evaluate('window.ran')).toBeUndefined();
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement('img'), { src: 'http://127.0.0.2:9/x.png' }))`,
    );
    await until(() => expect(troubles.length).toBeGreaterThanOrEqual(2), 10_000);
    await context.close();
  });

  it('can be used with the keyboard alone: the menu, a dialog, and back', async () => {
    const { page, context } = await openConsolePage(browser, cluster.url, wide, signedIn);
    await page.goto('/keys');
    await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
    await page.getByRole('button', { name: 'New key' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByLabel('Name').waitFor();
    await until(
      async () => expect(await page.evaluate('document.activeElement.closest("[role=dialog]") !== null')).toBe(true),
      10_000,
    );
    await page.keyboard.press('Escape');
    await until(async () => expect(await page.getByRole('dialog').count()).toBe(0), 10_000);
    await until(async () => expect(await page.evaluate('document.activeElement.textContent')).toBe('New key'), 10_000);
    await page.getByRole('link', { name: 'Workers' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Workers' }).waitFor();
    await until(async () => expect(await page.evaluate('document.activeElement.tagName')).toBe('H1'));
    await until(async () => expect(await page.title()).toBe('Workers · Model Router'));
    await context.close();
  });

  it('have the menu behind a button on a phone', async () => {
    const { page, context } = await openConsolePage(browser, cluster.url, phone, signedIn);
    await page.goto('/');
    await page.getByRole('button', { name: 'Open the menu' }).click();
    await page.getByRole('link', { name: 'Models' }).click();
    await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor();
    await page.getByRole('button', { name: 'Open the menu' }).waitFor();
    const link = page.getByRole('link', { name: 'Models' });
    await until(async () => expect((await link.boundingBox())?.x).toBeLessThan(0));
    await context.close();
  });

  it('keep a chosen colour scheme', async () => {
    const { page, context } = await openConsolePage(browser, cluster.url, wide, signedIn);
    await page.goto('/');
    await page.getByRole('button', { name: 'Colours: System' }).click();
    await page.getByRole('menuitemradio', { name: 'Dark' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Colours: Dark' }).waitFor();
    expect(await page.evaluate(`document.documentElement.dataset.mantineColorScheme`)).toBe('dark');
    await context.close();
  });
});

async function ask({ url, key }: ConsoleCluster, content: string): Promise<void> {
  const answer = await fetch(`${url}/api/openai/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'auto', messages: [{ role: 'user', content }] }),
  });
  await answer.text();
}

function overflows(page: { evaluate: (script: string) => Promise<unknown> }): Promise<unknown> {
  return page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
}
