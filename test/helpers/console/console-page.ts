import type { BrowserContext, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { until } from '../until.ts';
import { shareBrowser } from './open-browser.ts';

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
