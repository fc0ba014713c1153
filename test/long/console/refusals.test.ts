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

describe.skipIf(chromiumPath === undefined)('refused requests', () => {
  let cluster: ConsoleCluster;
  let browser: Browser;
  let signedIn: Awaited<ReturnType<BrowserContext['storageState']>>;

  beforeAll(async () => {
    cluster = await startConsole();
    const limited = await cluster.addKey({ name: 'nightly', limits: { requestsPerMinute: 1 } });
    const statuses = [];
    for (const key of ['nonsense', limited.raw, limited.raw, limited.raw]) statuses.push(await ask(key));
    expect(statuses).toEqual([401, 200, 429, 429]);
    browser = await openBrowser();
    const { page, context } = await openConsolePage(browser, cluster.url);
    await makeFirstAccount(page, cluster.firstLink);
    signedIn = await context.storageState();
    await context.close();
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await cluster?.stop();
  });

  async function ask(key: string): Promise<number> {
    const answer = await fetch(`${cluster.url}/api/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo', max_tokens: 5, messages: [{ role: 'user', content: 'Hello!' }] }),
    });
    await answer.text();
    return answer.status;
  }

  it('stand on Usage by reason, with whose they were and samples, and on Overview', async () => {
    const { page, context, troubles } = await openConsolePage(browser, cluster.url, wide, signedIn);
    await page.goto('/');
    const lately = page.getByRole('table', { name: 'Refused requests' });
    await lately.getByRole('row', { name: /A limit on the rate of requests was reached\. 2 2/ }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.goto('/usage');
    const reasons = page.getByRole('table', { name: 'Refused requests by reason' });
    const limited = reasons.getByRole('row', { name: /A limit on the rate of requests was reached\./ });
    await limited.waitFor();
    expect(await limited.innerText()).toMatch(/rate_limit_exceeded\s+nightly\s+2$/);
    expect(await reasons.getByRole('row', { name: /no known key/ }).innerText()).toMatch(/1$/);
    const samples = page.getByRole('table', { name: 'Newest refused requests' });
    const sample = samples.getByRole('row', { name: /nightly/ });
    expect(await sample.innerText()).toMatch(/this key may use 1 requests a minute[^]*429 rate_limit_exceeded[^]*demo/);
    expect(await seriousViolations(page)).toEqual([]);
    expect(troubles).toEqual([]);
    await context.close();
  });

  it('are cards on a phone', async () => {
    const { page, context } = await openConsolePage(browser, cluster.url, phone, signedIn);
    await page.goto('/usage');
    const card = page.getByRole('list', { name: 'Refused requests by reason' }).getByText('nightly');
    await card.waitFor();
    await waitUntilLoaded(page);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await seriousViolations(page)).toEqual([]);
    await context.close();
  });
});
