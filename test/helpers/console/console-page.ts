import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, Page } from 'playwright-core';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A page of the console in a browser, and everything about it that must not be. */
export interface WatchedPage {
  page: Page;
  context: BrowserContext;
  /** Violations of the page's policy, errors that nobody caught, and requests to other hosts, so far. */
  troubles: string[];
}

export interface LookOptions {
  width: number;
  height: number;
  colorScheme: 'light' | 'dark';
}

export const wide: LookOptions = { width: 1280, height: 860, colorScheme: 'light' };
export const phone: LookOptions = { width: 390, height: 844, colorScheme: 'light' };

/** Opens a tab of its own, with its own cookies, and watches it. */
export async function openConsolePage(
  browser: Browser,
  origin: string,
  { width, height, colorScheme }: LookOptions = wide,
  state?: Awaited<ReturnType<BrowserContext['storageState']>>,
): Promise<WatchedPage> {
  const context = await browser.newContext({
    baseURL: origin,
    viewport: { width, height },
    colorScheme,
    isMobile: width < 600,
    hasTouch: width < 600,
    ...(state ? { storageState: state } : {}),
  });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  const troubles: string[] = [];
  page.on('console', (message) => {
    const text = message.text();
    // Chromium tells each violation of a page's policy as an error here.
    if (message.type() === 'error' && (text.includes('Content Security Policy') || text.startsWith('Uncaught'))) {
      troubles.push(text);
    }
  });
  page.on('pageerror', (error) => troubles.push(`error: ${error.message}`));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && !['data:', 'blob:'].includes(url.protocol)) troubles.push(`request: ${url.href}`);
  });
  return { page, context, troubles };
}

/** Waits until nothing on the page is on its way any more. */
export async function settle(page: Page): Promise<void> {
  await page.locator('main').waitFor();
  while ((await page.locator('main [aria-busy=true]').count()) > 0) await page.waitForTimeout(50);
}

interface AxeResult {
  violations: { id: string; impact: string; help: string; nodes: { target: string[]; failureSummary: string }[] }[];
}

/** What axe finds seriously wrong with the page as it is now, in words. */
export async function seriousViolations(page: Page): Promise<string[]> {
  // In a page that is being left or whose transitions run, colours are not what they will be.
  await page.waitForTimeout(250);
  const { violations } = (await page.evaluate(`(() => { ${axeSource}; return axe.run(document, {
    resultTypes: ['violations'] }); })()`)) as AxeResult;
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${help}: ${target.join(' ')}: ${failureSummary}`),
    );
}

/** Makes the first account and is signed in. */
export async function makeFirstAccount(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.getByLabel('Your name').fill('Ada Lovelace');
  await page.getByLabel('E-mail').fill('ada@example.com');
  await page.getByRole('textbox', { name: 'Password' }).fill('tulip anvil 42 harbour');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
}
