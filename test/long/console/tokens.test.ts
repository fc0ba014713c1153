import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminClient } from '../../helpers/console/admin-client.ts';
import { ConsoleClient } from '../../helpers/console/console-client.ts';
import { openConsolePage, phone, seriousViolations, waitUntilLoaded } from '../../helpers/console/console-page.ts';
import { goodPassword } from '../../helpers/console/good-password.ts';
import { joinConsole } from '../../helpers/console/open-as.ts';
import { chromiumPath, openBrowser } from '../../helpers/console/open-browser.ts';
import { uniqueName } from '../../helpers/unique-name.ts';
import { until } from '../../helpers/until.ts';
import { startConsole, type ConsoleCluster } from '../../helpers/console/start-console.ts';

describe.skipIf(chromiumPath === undefined)('an administrator with programs', () => {
  let cluster: ConsoleCluster;
  let browser: Browser;
  let ada: ConsoleClient;

  beforeAll(async () => {
    [cluster, browser] = await Promise.all([
      startConsole({ workers: 0, engineUrl: 'http://127.0.0.1:1' }),
      openBrowser(),
    ]);
    ({ client: ada } = await joinConsole(new ConsoleClient(cluster.url), cluster.firstLink, 'Ada'));
  });
  afterAll(async () => {
    await browser?.close();
    await cluster?.stop();
  });

  async function open(path: string, ...look: [Parameters<typeof openConsolePage>[2]?]): Promise<Page> {
    const { page } = await openConsolePage(browser, cluster.url, ...look);
    await page.goto(path);
    await page.getByLabel('E-mail').fill('ada@example.com');
    await page.getByRole('textbox', { name: 'Password' }).fill(goodPassword);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { level: 1 }).filter({ hasNotText: 'Sign in' }).waitFor();
    await waitUntilLoaded(page);
    return page;
  }

  it('makes a token, which is shown once and works, and revokes it', async () => {
    const name = uniqueName('ci');
    const page = await open('/account');
    await page.getByRole('button', { name: 'New token' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(name);
    await dialog.getByRole('button', { name: 'Create' }).click();
    const raw = await dialog.getByLabel('token', { exact: true }).innerText();
    const client = new AdminClient(cluster.url, raw.trim());
    expect((await client.get('/users')).status).toBe(200);
    expect(await seriousViolations(page)).toEqual([]);
    // It is shown only here: no key closes it by mistake.
    await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page
      .getByRole('row', { name: new RegExp(name) })
      .getByText('read')
      .waitFor();
    await until(async () => expect(await page.content()).not.toContain(raw.trim()));
    await page.getByRole('button', { name: `Revoke ${name}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect((await client.get('/users')).status).toBe(401);
  });

  it('finds in the audit trail what somebody did, and saves it as a file', async () => {
    await ada.post('/teams', { name: uniqueName('Blue') });
    await ada.patch('/settings', { membersMakeKeys: true });
    const page = await open('/admin/audit');
    const changes = page.getByRole('row', { name: /settings\.change/ });
    await changes.first().waitFor();
    await page.getByRole('combobox', { name: 'Action' }).click();
    await page.getByRole('option', { name: 'Teams' }).click();
    await page
      .getByRole('row', { name: /team\.create/ })
      .first()
      .waitFor();
    await until(async () => expect(await changes.count()).toBe(0));
    const saved = page.waitForEvent('download');
    await page.getByRole('link', { name: 'CSV' }).click();
    expect((await saved).suggestedFilename()).toBe('audit.csv');
    expect(await seriousViolations(page)).toEqual([]);
    const small = await open('/admin/audit', phone);
    await small.getByText('team.create').first().waitFor();
    expect(await seriousViolations(small)).toEqual([]);
  });

  it('reads what the Admin API does, from this router alone', async () => {
    const { page, troubles } = await openConsolePage(browser, cluster.url);
    const hosts = new Set<string>();
    page.on('request', (request) => hosts.add(new URL(request.url()).origin));
    await page.goto('/api/admin/v1/docs');
    await page.getByText('Makes a team without members.').first().waitFor();
    expect([...hosts]).toEqual([new URL(cluster.url).origin]);
    expect(troubles).toEqual([]);
  });
});
