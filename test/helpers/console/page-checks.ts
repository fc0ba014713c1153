import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { until } from '../until.ts';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

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

/** Expects no violation in the page's present colour scheme. */
export async function expectNoViolation(page: Page): Promise<void> {
  expect(await violationsOn(page)).toEqual([]);
}

/** Returns the violations in both colour schemes. */
export async function violationsInBothSchemes(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'dark' });
  const found = await violationsOn(page);
  await page.emulateMedia({ colorScheme: 'light' });
  return [...found, ...(await violationsOn(page, colourRules))];
}

/** Expects no violation in both of them. */
export async function expectAccessible(page: Page): Promise<void> {
  expect(await violationsInBothSchemes(page)).toEqual([]);
}

/** Expects that nothing extends beyond the page sideways. */
export async function expectFits(page: Page): Promise<void> {
  const fits = 'document.documentElement.scrollWidth <= document.documentElement.clientWidth';
  await until(async () => expect(await page.evaluate(fits)).toBe(true));
}

/** Expects that a page fits its window, and has no violation in its present colour scheme. */
export async function expectGood(page: Page): Promise<void> {
  await expectFits(page);
  await expectNoViolation(page);
}
