import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { violationsInBothSchemes } from './console-page.ts';

/** Expects that a page has no serious violation of accessibility, in both colour schemes. */
export async function expectAccessible(page: Page): Promise<void> {
  expect(await violationsInBothSchemes(page)).toEqual([]);
}
