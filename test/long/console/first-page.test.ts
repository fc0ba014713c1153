// @module-tag chromium
import { expect, it } from 'vitest';
import { shareConsole } from '../../helpers/console/console-with-ada.ts';
import { openAs } from '../../helpers/console/open-as.ts';
import { least } from '../../helpers/least.ts';

/** The most bytes of compressed script for the first page. */
const scriptBudget = 250 * 1024;

const usableMs = 1_000;

const here = shareConsole();

it('the first page of the console loads little script, and is usable within a second', async () => {
  const measure = async (): Promise<number> => {
    const { page, context } = await openAs(here.ada, { isAlone: true });
    const begin = performance.now();
    await page.goto('/', { waitUntil: 'commit' });
    await page.getByText('Requests per second').waitFor();
    const ms = performance.now() - begin;
    await page.waitForLoadState('networkidle').catch(() => undefined);
    const scripts = await page.evaluate<number[]>(
      `performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js')).map((each) => each.encodedBodySize)`,
    );
    const bytes = scripts.reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(scriptBudget);
    await context.close();
    return ms;
  };
  expect(await least(measure, usableMs, 10)).toBeLessThan(usableMs);
});
