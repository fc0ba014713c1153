// @module-tag chromium
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { askChat } from '../../helpers/console/ask-chat.ts';
import { phone, waitUntilLoaded, wide } from '../../helpers/console/console-page.ts';
import { expectNoViolation } from '../../helpers/console/page-checks.ts';
import { ownConsole, shareConsole } from '../../helpers/console/console-with-ada.ts';
import { openAs, openPageAs } from '../../helpers/console/open-as.ts';
import { uniqueName } from '../../helpers/unique-name.ts';
import { until } from '../../helpers/until.ts';

describe('the console', () => {
  const here = shareConsole();

  it('copies over plain HTTP, and keeps the key that it shows once until then', async () => {
    const origin = `http://router.test:${new URL(here.cluster.url).port}`;
    const { page } = await openPageAs(here.ada, '/keys', { origin });
    expect(await page.evaluate('[isSecureContext, navigator.clipboard === undefined]')).toEqual([false, true]);
    await page.getByRole('button', { name: 'New key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('laptop');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    const raw = await dialog.getByRole('group', { name: 'the key' }).innerText();
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    await page.waitForTimeout(500);
    expect(await dialog.getByRole('group', { name: 'the key' }).innerText()).toBe(raw);
    const copy = dialog.getByRole('button', { name: 'Copy the key' });
    await copy.focus();
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'Copied', exact: true }).waitFor();
    const focused = (): Promise<unknown> => page.evaluate('document.activeElement.getAttribute("aria-label")');
    await until(async () => expect(await focused()).toBe('Copied'));
    await until(async () => expect(await page.locator('textarea[aria-hidden]').count()).toBe(0));
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'New key' }).click();
    await dialog.getByRole('textbox', { name: 'Name' }).focus();
    await page.keyboard.press('Control+V');
    await until(async () => expect(await dialog.getByRole('textbox', { name: 'Name' }).inputValue()).toBe(raw));
  });

  it('closes the dialog with a key by its buttons, and one without a key by Escape', async () => {
    const { page } = await openPageAs(here.ada, '/admin/invitations');
    await page.getByRole('button', { name: 'Invite someone' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('E-mail').fill(`${uniqueName('grace')}@example.com`);
    await dialog.getByRole('button', { name: 'Create link' }).click();
    await dialog.getByText('It works once').waitFor();
    await page.keyboard.press('Escape');
    await page.waitForTimeout(500);
    expect(await dialog.getByText('It works once').isVisible()).toBe(true);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Invite someone' }).click();
    await dialog.getByLabel('E-mail').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
  });

  it('loads a page again whose code could not be fetched', async () => {
    const { page } = await openAs(here.ada);
    const refused = await refuseModels(page, 2);
    await page.goto('/');
    await page.getByRole('link', { name: 'Models' }).click();
    await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor();
    expect(refused.count).toBe(2);
  });

  it('has the code of each page in a file of its own, which can be fetched by another address', () => {
    const assets = 'services/console/web/dist/assets';
    const index = readdirSync(assets).filter((name) => /^index-.*\.js$/.test(name));
    const code = index.map((name) => readFileSync(join(assets, name), 'utf8')).join('\n');
    expect(code.match(/import\(`\.\/[\w-]+\.js`\)/g)?.length).toBeGreaterThan(14);
    // Otherwise a page and what it loads later import the same module: give that what it needs as properties.
    expect(code.match(/import\(`\.\/[\w-]+\.js`\)\.then.{20}/g)).toBeNull();
  });

  it('offers to reload a page whose code stays away, and lets people go elsewhere and come back', async () => {
    const { page } = await openAs(here.ada);
    const refused = await refuseModels(page, Infinity);
    await page.goto('/');
    await page.getByRole('link', { name: 'Models' }).click();
    await page.getByText('This page could not be shown').waitFor();
    await page.getByRole('button', { name: 'Reload' }).waitFor();
    await expectNoViolation(page);
    const before = refused.count;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Loading the page').waitFor();
    await until(() => expect(refused.count).toBeGreaterThan(before));
    await page.getByRole('link', { name: 'Workers' }).click();
    await page.getByRole('heading', { level: 1, name: 'Workers' }).waitFor();
    refused.left = 0;
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor();
  });

  it('goes back to the owner whose things were shown before', async () => {
    const { page } = await openPageAs(here.ada, '/workers');
    await page.getByRole('link', { name: 'Batches' }).click();
    const owner = page.getByRole('combobox', { name: 'Owner' });
    await owner.click();
    await page.getByRole('option', { name: 'Everybody: unfinished batches' }).click();
    await until(async () => expect(await owner.inputValue()).toBe('Everybody: unfinished batches'));
    await page.goBack();
    await until(async () => expect(await owner.inputValue()).toBe('Your own'));
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Workers' }).waitFor();
  });

  it("keeps the focus on Admin's tabs when arrow keys move through them", async () => {
    const { page } = await openPageAs(here.ada, '/admin/people');
    await page.getByRole('tab', { name: 'People' }).focus();
    const focused = (): Promise<unknown> => page.evaluate('document.activeElement.textContent');
    for (const name of ['Invitations', 'Teams', 'Router keys']) {
      await page.keyboard.press('ArrowRight');
      await page.getByRole('tab', { name, selected: true }).waitFor();
      await waitUntilLoaded(page);
      await until(async () => expect(await focused()).toBe(name));
    }
    await page.keyboard.press('ArrowLeft');
    await until(async () => expect(await focused()).toBe('Teams'));
    await until(() => expect(new URL(page.url()).pathname).toBe('/admin/teams'));
  });

  it('shows times in the time zone of the browser, or all in UTC', async () => {
    const { page } = await openAs(here.ada, { look: { ...wide, timezoneId: 'Asia/Tokyo' }, isAlone: true });
    const [{ at }] = (await here.ada.client.get('/audit')).body.data;
    const minutes = (zone: string): string =>
      new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeStyle: 'short', timeZone: zone }).format(at);
    await page.goto('/admin/audit');
    const first = page.getByRole('table', { name: 'Audit trail' }).getByRole('row').nth(1).getByRole('cell').first();
    await first.waitFor();
    await until(async () => expect(await first.innerText()).toBe(minutes('Asia/Tokyo')));
    await page.getByRole('button', { name: 'Account of Ada' }).click();
    await page.getByRole('menuitemradio', { name: 'Local time (Asia/Tokyo)' }).waitFor();
    await expectNoViolation(page);
    await page.getByRole('menuitemradio', { name: 'UTC' }).click();
    await until(async () => expect(await first.innerText()).toBe(`${minutes('UTC')} UTC`));
    await page.reload();
    await until(async () => expect(await first.innerText()).toBe(`${minutes('UTC')} UTC`));
    // A date that is typed digit by digit has a year of one digit for a moment.
    await page.goto('/keys');
    await page.getByRole('button', { name: 'New key' }).click();
    const expires = page.getByLabel('Expires');
    await expires.focus();
    await page.keyboard.type('11282031');
    await until(async () => expect(await expires.inputValue()).toBe('2031-11-28'));
  });
});

describe('a console whose services come and go', () => {
  const here = ownConsole({ workers: 0, worker: { SLOTS: '1' } });

  const ask = (content: string): Promise<Response> => askChat(here.cluster, content, { model: 'auto' });

  it('shows what waits without any worker, and without a free one', async () => {
    const { page } = await openPageAs(here.ada, '/workers');
    await page.getByText('No request is waiting.').waitFor();
    const answers = [ask('Hello!')];
    const queue = page.getByRole('table', { name: 'Queue by lane' });
    await queue.getByRole('row', { name: /no worker can serve it now GPU normal 1$/ }).waitFor();
    await expectNoViolation(page);
    await page.goto('/');
    const waiting = page.getByRole('region', { name: 'Waiting' });
    await waiting.getByText('requests in the queue').waitFor();
    await until(async () => expect(await waiting.innerText()).toMatch(/Waiting\s+1\s/));
    await here.cluster.addWorker();
    expect((await answers[0])?.status).toBe(200);
    await page.goto('/workers');
    await page.getByText('No request is waiting.').waitFor();
    for (const text of ['one', 'two', 'three']) answers.push(ask(`${text}\n[demo delay=6000]`));
    await queue.getByRole('row', { name: /GPU normal 2$/ }).waitFor();
    await until(async () => expect(await queue.getByText('no worker can serve it now').count()).toBe(0));
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await page.getByText('No request is waiting.').waitFor();
  });

  it('knows after a restart of the ingress that there were requests', async () => {
    // The test before has sent some.
    const { page: before } = await openPageAs(here.ada, '/');
    await before.getByText('Served by').waitFor();
    const { url: origin } = await here.cluster.addIngress();
    await here.cluster.ingress.stop();
    const { page } = await openPageAs(here.ada, '/', { origin, look: phone });
    await page.getByText('No requests lately').waitFor();
    await page.getByText(/The last request began .*(?:ago|now)/).waitFor();
    expect(await page.getByText('No requests yet').count()).toBe(0);
    await expectNoViolation(page);
  });
});

/** Refuses the next requests for the code of the page of models, as a router does that restarts. */
async function refuseModels(page: Page, left: number): Promise<{ left: number; count: number }> {
  const refused = { left, count: 0 };
  await page.route(/\/assets\/models-/, (route) => {
    if (refused.count >= refused.left) return route.continue();
    refused.count += 1;
    return route.abort('connectionrefused');
  });
  return refused;
}
