// @module-tag chromium
import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { UsageReport } from '#services/console/contract/usage.ts';
import { askChat } from '../../helpers/console/ask-chat.ts';
import { phone, waitUntilLoaded, wide } from '../../helpers/console/console-page.ts';
import { expectGood, expectNoViolation } from '../../helpers/console/page-checks.ts';
import { ownConsole } from '../../helpers/console/console-with-ada.ts';
import { openPageAs } from '../../helpers/console/open-as.ts';
import { until } from '../../helpers/until.ts';

/** Keys with limits: enough for a list that nobody wants to scroll through. */
const limitedKeys = 40;

describe('the usage page', () => {
  const here = ownConsole({ engine: { DEMO_MODELS: 'demo,other' } });
  const keys: { raw: string; id: string }[] = [];
  /** The last of the keys that has used up its limit. */
  let used = 6;

  beforeAll(async () => {
    const { cluster, ada } = here;
    const limits = { requestsPerMinute: 3, tokensPerDay: 1_000_000 };
    const names = Array.from({ length: limitedKeys }, (_, at) => `machine ${at}`);
    // Some at once: more than a few hundred milliseconds of hashing may not wait.
    for (let from = 0; from < names.length; from += 8)
      keys.push(...(await Promise.all(names.slice(from, from + 8).map((name) => cluster.addKey({ name, limits })))));
    await cluster.addKey({ name: 'expired', limits: { requestsPerMinute: 3 }, expiresAt: Date.now() - 1_000 });
    const revoked = await cluster.addKey({ name: 'revoked', limits: { requestsPerMinute: 3 } });
    await ada.client.delete(`/keys/${revoked.id}`);
    for (const model of ['demo', 'other']) await ask(keys[0]?.raw ?? '', model);
  });

  async function ask(key: string, model = 'demo', text = 'Hello!'): Promise<void> {
    expect((await askChat({ ...here.cluster, key }, text, { model })).status).toBe(200);
  }

  const plotOf = (page: Page): Locator => page.locator('.recharts-surface').first();
  const tooltipOf = (page: Page): Locator => page.locator('.chart-tooltip');

  /** Holds the pointer over the chart, so far from its right end, until it says what is there: the page moves while it loads. */
  async function pointAt(page: Page, fromRight: number): Promise<void> {
    await plotOf(page).scrollIntoViewIfNeeded();
    let step = 0;
    await until(async () => {
      const box = await plotOf(page).boundingBox();
      if (!box) return false;
      step = 1 - step;
      await page.mouse.move(box.x + box.width - fromRight, box.y + box.height / 2 + step);
      await page.waitForTimeout(100);
      return tooltipOf(page).isVisible();
    });
  }

  async function choose(page: Page, field: string, option: string): Promise<void> {
    // What loads meanwhile closes the list again.
    await waitUntilLoaded(page);
    await page.getByRole('combobox', { name: field, exact: true }).click();
    await page.getByRole('option', { name: option, exact: true }).click();
  }

  describe('has refused requests', () => {
    beforeAll(async () => {
      const { cluster, ada } = here;
      const { raw, id } = await cluster.addKey({ name: 'nightly', limits: { requestsPerMinute: 1 } });
      const statuses = [];
      for (const key of ['nonsense', raw, raw, raw]) statuses.push((await askChat({ ...cluster, key })).status);
      expect(statuses).toEqual([401, 200, 429, 429]);
      return async () => void (await ada.client.delete(`/keys/${id}`));
    });

    it('by reason, with whose they were and samples, and Overview has them too', async () => {
      const { page } = await openPageAs(here.ada, '/');
      const lately = page.getByRole('table', { name: 'Refused requests' });
      await lately.getByRole('row', { name: /A limit on the rate of requests was reached\. 2 2/ }).waitFor();
      await expectNoViolation(page);
      await page.goto('/usage');
      const reasons = page.getByRole('table', { name: 'Refused requests by reason' });
      const limited = reasons.getByRole('row', { name: /A limit on the rate of requests was reached\./ });
      await limited.waitFor();
      expect(await limited.innerText()).toMatch(/rate_limit_exceeded\s+nightly\s+2$/);
      expect(await reasons.getByRole('row', { name: /no known key/ }).innerText()).toMatch(/1$/);
      const samples = page.getByRole('table', { name: 'Newest refused requests' });
      const sample = samples.getByRole('row', { name: /nightly/ });
      const told = /this key may use 1 requests a minute[^]*429 rate_limit_exceeded[^]*demo/;
      expect(await sample.innerText()).toMatch(told);
      await expectNoViolation(page);
    });

    it('as cards on a phone', async () => {
      const { page } = await openPageAs(here.ada, '/usage', { look: phone });
      await page.getByRole('list', { name: 'Refused requests by reason' }).getByText('nightly').waitFor();
      await waitUntilLoaded(page);
      await expectGood(page);
    });
  });

  it('names what it is filtered by, and goes back step by step', async () => {
    const { page } = await openPageAs(here.ada, '/keys');
    await page.getByRole('link', { name: 'Usage' }).click();
    await choose(page, 'By', 'Key');
    await page.getByRole('table', { name: 'Usage by key' }).getByRole('button', { name: 'machine 0' }).click();
    await page.getByRole('button', { name: 'Remove the filter Key machine 0' }).waitFor();
    await choose(page, 'Time', 'Last 30 days');
    await page.reload();
    await page.getByRole('button', { name: 'Remove the filter Key machine 0' }).waitFor();
    await until(async () => expect(await page.getByText(keys[0]?.id ?? 'none').count()).toBe(0));
    const time = page.getByRole('combobox', { name: 'Time', exact: true });
    const filters = page.getByRole('button', { name: /^Remove the filter/ });
    await until(async () => expect(await time.inputValue()).toBe('Last 30 days'));
    await page.goBack();
    await until(async () => expect(await time.inputValue()).toBe('Last 7 days'));
    await until(async () => expect(await filters.count()).toBe(1));
    await page.goBack();
    await until(async () => expect(await filters.count()).toBe(0));
    await page.goBack();
    await page.getByRole('table', { name: 'Usage by model' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
    await page.goto(`/usage?user=${here.ada.id}&by=user`);
    await page.getByRole('button', { name: 'Remove the filter Person Ada' }).waitFor();
  });

  it('folds the limits of many to the tightest, without dead keys, and finds the others', async () => {
    // Another key each time: it has three requests a minute.
    const tight = (used += 1);
    for (let count = 0; count < 3; count += 1) await ask(keys[tight]?.raw ?? '');
    const { page } = await openPageAs(here.ada, '/usage');
    const limits = page.getByRole('region', { name: 'Limits', exact: true });
    await limits.getByText(`machine ${tight}`, { exact: true }).waitFor();
    await until(async () => expect((await limits.boundingBox())?.height).toBeLessThan(400));
    expect(await limits.getByRole('progressbar').count()).toBeLessThanOrEqual(6);
    await limits.getByRole('button', { name: `Show all ${limitedKeys}` }).click();
    await limits.getByRole('status').getByText('40', { exact: true }).waitFor();
    await until(async () => expect((await limits.boundingBox())?.height).toBeLessThan(650));
    await expectNoViolation(page);
    for (const dead of ['expired', 'revoked']) {
      await limits.getByLabel('Search limits').fill(dead);
      await limits.getByRole('heading', { name: 'Nothing matches' }).waitFor();
    }
    await limits.getByLabel('Search limits').fill('machine 39');
    await limits.getByText('machine 39').waitFor();
    await until(async () => expect(await limits.getByRole('progressbar').count()).toBe(2));
  });

  it('has twelve months, and says that days and months are those of UTC', async () => {
    const { page } = await openPageAs(here.ada, '/usage', { look: { ...wide, timezoneId: 'Asia/Tokyo' } });
    await page.getByText('each day, in UTC').waitFor();
    const answered = page.waitForResponse((response) => response.url().includes('step=month'));
    await choose(page, 'Time', 'Last 12 months');
    const report = (await (await answered).json()) as UsageReport;
    expect(report.times.length).toBe(12);
    expect(report.times.at(-1)).toBe(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth()));
    await page.getByText('each month, in UTC').waitFor();
  });

  it('shows today by the hour, in the time zone of the browser', async () => {
    const timezoneId = 'Asia/Tokyo';
    const { page } = await openPageAs(here.ada, '/usage?span=1d&measure=requests', { look: { ...wide, timezoneId } });
    await page.getByRole('heading', { name: 'Requests by model and hour', exact: true }).waitFor();
    await page.getByText('each hour').waitFor();
    const groups = page.getByRole('list', { name: 'Groups of the chart' });
    await until(async () => expect(await groups.innerText()).toMatch(/demo: \d[^]*other: 1/));
    const hour = new Intl.DateTimeFormat('en-US', { hour: 'numeric', timeZone: timezoneId });
    const [time] = (await here.ada.client.get('/usage/requests?limit=1')).body.requests;
    // It is the last hour, or the next one has begun meanwhile.
    await until(async () => {
      await pointAt(page, 12);
      const shown = await tooltipOf(page).innerText();
      expect([time.at, Date.now()].map((at) => hour.format(at))).toContain(/, (\d+\s[AP]M)/.exec(shown)?.[1]);
    });
    await choose(page, 'By', 'Key');
    await page.getByRole('heading', { name: 'Requests by key and hour', exact: true }).waitFor();
    // Tiers have no hours of their own.
    await choose(page, 'By', 'Tier');
    await page.getByRole('heading', { name: 'Requests by hour', exact: true }).waitFor();
    await choose(page, 'Time', 'Last 7 days');
    await page.getByRole('heading', { name: 'Requests by tier', exact: true }).waitFor();
  });

  it.each([wide, { ...wide, colorScheme: 'dark' as const }, phone])('has a chart to be read: %o', async (look) => {
    const { page } = await openPageAs(here.ada, '/usage?measure=requests', { look });
    const legend = page.getByRole('list', { name: 'Groups of the chart' });
    await until(async () => expect(await legend.innerText()).toMatch(/demo: \d[^]*other: 1/));
    await until(async () => {
      const box = await plotOf(page).boundingBox();
      expect((await legend.boundingBox())?.y).toBeGreaterThanOrEqual((box?.y ?? Infinity) + (box?.height ?? 0));
    });
    await until(async () => {
      await pointAt(page, 25);
      expect(await tooltipOf(page).innerText()).toMatch(/other\s+1\s+demo\s+\d+\s+Total\s+\d+$/);
    });
    const ratios = await page.evaluate<number[]>(contrasts);
    expect(ratios.length).toBeGreaterThan(4);
    expect(Math.min(...ratios)).toBeGreaterThanOrEqual(4.5);
    await waitUntilLoaded(page);
    await expectGood(page);
  });

  it('tells when a request began and when it ended', async () => {
    await ask(here.cluster.key, 'demo', 'Slowly.\n[demo delay=1500]');
    const newest = async () => (await here.ada.client.get('/usage/requests?limit=1')).body.requests[0];
    await until(async () => expect((await newest()).totalMs).toBeGreaterThanOrEqual(1_500));
    const { id, at, totalMs } = await newest();
    const { page } = await openPageAs(here.ada, '/usage');
    const rows = page.getByRole('table', { name: 'Recent requests' });
    await rows.getByRole('button', { name: `Details of ${id}` }).click();
    const fact = (name: string) => page.getByRole('dialog').getByRole('row', { name: new RegExp(`^${name} `) });
    const shown = (at: number): Promise<string> =>
      page.evaluate(`new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' }).format(${at})`);
    expect(await fact('Began').innerText()).toContain(await shown(at));
    expect(await fact('Ended').innerText()).toContain(await shown(at + totalMs));
    expect(await shown(at)).not.toBe(await shown(at + totalMs));
  });
});

/** The contrast of each text in the tooltip with its background, as WCAG computes it. */
const contrasts = `(() => {
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((part) => part / 255).map((part) =>
      part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const read = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const tooltip = document.querySelector('.recharts-tooltip-wrapper > *');
  const ground = luminance(read(getComputedStyle(tooltip).backgroundColor));
  return [...tooltip.querySelectorAll('*')]
    .filter((each) => [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== ''))
    .map((each) => {
      const ink = luminance(read(getComputedStyle(each).color));
      return (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
    });
})()`;
