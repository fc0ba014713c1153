import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { until } from '../until.ts';
import { goodPassword } from './good-password.ts';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A page of the console in a browser, and its troubles. */
export interface WatchedPage {
  page: Page;
  context: BrowserContext;
  /** Violations of the page's policy, uncaught errors, and requests to other hosts, so far. */
  troubles: string[];
}

export interface LookOptions {
  width: number;
  height: number;
  colorScheme: 'light' | 'dark';
  /** Default: that of the machine. */
  timezoneId?: string;
}

export const wide: LookOptions = { width: 1280, height: 860, colorScheme: 'light' };
export const phone: LookOptions = { width: 390, height: 844, colorScheme: 'light' };

/** Opens a tab with its own cookies and records its troubles. */
export async function openConsolePage(
  browser: Browser,
  origin: string,
  { width, height, colorScheme, timezoneId }: LookOptions = wide,
  state?: Awaited<ReturnType<BrowserContext['storageState']>>,
): Promise<WatchedPage> {
  const context = await browser.newContext({
    baseURL: origin,
    viewport: { width, height },
    colorScheme,
    isMobile: width < 600,
    hasTouch: width < 600,
    ...(timezoneId !== undefined && { timezoneId }),
    ...(state ? { storageState: state } : {}),
  });
  const page = await context.newPage();
  // Ends what hangs; a busy machine takes several times as long as a quiet one.
  page.setDefaultTimeout(60_000);
  const troubles: string[] = [];
  page.on('console', (message) => {
    const text = message.text();
    // Chromium reports each violation of a page's policy as an error here.
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

/** Waits until everything on the page has loaded. */
export async function waitUntilLoaded(page: Page): Promise<void> {
  await page.locator('main').waitFor();
  await until(async () => (await page.locator('main [aria-busy=true]').count()) === 0, 60_000);
}

interface AxeResult {
  violations: { id: string; impact: string; help: string; nodes: { target: string[]; failureSummary: string }[] }[];
}

/** The serious and critical accessibility violations that axe finds on the page. */
export async function seriousViolations(page: Page): Promise<string[]> {
  // Colours are not final while a page is left or transitions run.
  await page.waitForTimeout(250);
  const { violations } = (await page.evaluate(`(() => { ${axeSource}; return axe.run(document, {
    resultTypes: ['violations'] }); })()`)) as AxeResult;
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${help}: ${target.join(' ')}: ${failureSummary}`),
    );
}

/** Creates the first account, which signs it in. */
export async function makeFirstAccount(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.getByLabel('Your name').fill('Ada Lovelace');
  await page.getByLabel('E-mail').fill('ada@example.com');
  await page.getByRole('textbox', { name: 'Password' }).fill(goodPassword);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
}
