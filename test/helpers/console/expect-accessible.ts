import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { seriousViolations } from './console-page.ts';

/** Expects that a page has no serious violation of accessibility, in both colour schemes. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await seriousViolations(page)).toEqual([]);
  }
}
