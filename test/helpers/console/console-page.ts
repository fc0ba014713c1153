import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserContext, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { until } from '../until.ts';
import { goodPassword } from './good-password.ts';
import { shareBrowser } from './open-browser.ts';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A page of the console in a browser. */
export interface WatchedPage {
  page: Page;
  context: BrowserContext;
  /** Violations of the page's policy, uncaught errors, and requests to other hosts, so far. A test with any of them fails. */
  troubles: string[];
}

export interface LookOptions {
  width: number;
  height: number;
  colorScheme: 'light' | 'dark';
  /** Default: that of the machine. */
  timezoneId?: string;
}

export interface PageOptions {
  /** Default: wide and light. */
  look?: LookOptions;
  /**
   * Other origins that the test visits. The font of a provider's pages is not fetched, because a machine without the internet waits for it.
   */
  visits?: readonly string[];
}

export const wide: LookOptions = { width: 1280, height: 860, colorScheme: 'light' };
export const phone: LookOptions = { width: 390, height: 844, colorScheme: 'light' };

const fonts = 'https://fonts.googleapis.com';

/** Opens a browser window with cookies of its own. */
export async function openContext(
  origin: string,
  { width, height, colorScheme, timezoneId }: LookOptions = wide,
  state?: Awaited<ReturnType<BrowserContext['storageState']>>,
): Promise<BrowserContext> {
  const browser = await shareBrowser();
  return browser.newContext({
    baseURL: origin,
    viewport: { width, height },
    colorScheme,
    isMobile: width < 600,
    hasTouch: width < 600,
    ...(timezoneId !== undefined && { timezoneId }),
    ...(state ? { storageState: state } : {}),
  });
}

/** Opens a window without a sign-in, with a page, for the running test. */
export async function openConsolePage(origin: string, { look, ...options }: PageOptions = {}): Promise<WatchedPage> {
  const context = await openContext(origin, look);
  onTestFinished(() => context.close());
  return openWatched(context, origin, options);
}

/** Opens a page in a window for the running test, which fails if the page has troubles. */
export async function openWatched(
  context: BrowserContext,
  origin: string,
  { visits = [] }: Omit<PageOptions, 'look'> = {},
): Promise<WatchedPage> {
  const page = await context.newPage();
  // Ends a page that hangs; a busy machine takes several times as long as a quiet one.
  page.setDefaultTimeout(60_000);
  const troubles: string[] = [];
  const allowed = new Set([origin, ...visits, ...(visits.length > 0 ? [fonts] : [])]);
  if (visits.length > 0) await page.route(`${fonts}/**`, (route) => route.abort());
  page.on('console', (message) => {
    const text = message.text();
    // Chromium reports each violation of a page's policy as an error here.
    if (message.type() === 'error' && (text.includes('Content Security Policy') || text.startsWith('Uncaught'))) {
      troubles.push(text);
    }
  });
  page.on('pageerror', (error) => troubles.push(`error: ${error.message}`));
  const goto = page.goto.bind(page);
  // Chromium drops what it loads when an interface of the machine changes, for example because a container starts.
  const gotoAgain: typeof goto = (...where) =>
    goto(...where).catch((error: Error) => {
      if (!error.message.includes('ERR_NETWORK_CHANGED')) throw error;
      return goto(...where);
    });
  Object.assign(page, { goto: gotoAgain });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (!allowed.has(url.origin) && !['data:', 'blob:'].includes(url.protocol)) troubles.push(`request: ${url.href}`);
  });
  const failed: string[] = [];
  page.on('requestfailed', (request) => failed.push(`${request.url()}: ${request.failure()?.errorText}`));
  onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail' && !page.isClosed())
      console.error(`${page.url()}: ${await page.evaluate<string>('document.body.innerText')}`, failed.slice(-10));
    await page.close();
    expect(troubles).toEqual([]);
  });
  return { page, context, troubles };
}

/** Waits until everything on the page has loaded. */
export async function waitUntilLoaded(page: Page): Promise<void> {
  await page.locator('main').waitFor();
  await until(async () => (await page.locator('main [aria-busy=true]').count()) === 0, 60_000);
}

/** A script that waits until no transition runs, for two seconds at most: colours are not final before. */
const stillness = `(async () => {
  const isRunning = ({ playState, effect }) => playState === 'running' && effect.getComputedTiming().endTime !== Infinity;
  for (let round = 0; round === 0 || (round < 40 && document.getAnimations().some(isRunning)); round += 1)
    await new Promise((resolve) => setTimeout(resolve, 50));
})()`;

interface AxeResult {
  violations: { id: string; impact: string; help: string; nodes: { target: string[]; failureSummary: string }[] }[];
}

/** Rules of axe about colours: the others find the same in both colour schemes. */
const colourRules = ['color-contrast', 'link-in-text-block'];

/**
 * Returns the serious and critical accessibility violations that axe finds on the page.
 * @param rules only these rules; default: all
 */
async function violationsOn(page: Page, rules?: readonly string[]): Promise<string[]> {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(axeSource);
  await page.evaluate(stillness);
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) };
  const { violations } = await page.evaluate<AxeResult>(`axe.run(document, ${JSON.stringify(options)})`);
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${help}: ${target.join(' ')}: ${failureSummary}`),
    );
}

/** Returns the violations in the page's present colour scheme. */
export const seriousViolations = (page: Page): Promise<string[]> => violationsOn(page);

/** Returns the violations in both colour schemes. */
export async function violationsInBothSchemes(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'dark' });
  const found = await violationsOn(page);
  await page.emulateMedia({ colorScheme: 'light' });
  return [...found, ...(await violationsOn(page, colourRules))];
}

export async function signInAt(page: Page, email: string, password = goodPassword): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByRole('textbox', { name: 'Password' }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Expects that nothing extends beyond the page sideways. */
export async function expectFits(page: Page): Promise<void> {
  await until(async () =>
    expect(await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth')).toBe(
      true,
    ),
  );
}
