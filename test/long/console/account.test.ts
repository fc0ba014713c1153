import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setUpApp } from '../../helpers/console/authenticator-app.ts';
import { ConsoleClient } from '../../helpers/console/console-client.ts';
import { openConsolePage, phone, seriousViolations, waitUntilLoaded } from '../../helpers/console/console-page.ts';
import { goodPassword } from '../../helpers/console/good-password.ts';
import { joinConsole } from '../../helpers/console/open-as.ts';
import { chromiumPath, openBrowser } from '../../helpers/console/open-browser.ts';
import { until } from '../../helpers/until.ts';
import { uniqueName } from '../../helpers/unique-name.ts';
import { startConsole, type ConsoleCluster } from '../../helpers/console/start-console.ts';

describe.skipIf(chromiumPath === undefined)('the account page', () => {
  let cluster: ConsoleCluster;
  let browser: Browser;
  let ada: ConsoleClient;
  let carol: string;

  beforeAll(async () => {
    [cluster, browser] = await Promise.all([
      startConsole({ workers: 0, engineUrl: 'http://127.0.0.1:1' }),
      openBrowser(),
    ]);
    ({ client: ada } = await joinConsole(new ConsoleClient(cluster.url), cluster.firstLink, 'Ada'));
    ({ email: carol } = await invite('carol'));
  });
  afterAll(async () => {
    await browser?.close();
    await cluster?.stop();
  });

  /** Somebody whom Ada has invited, as a client of the API. */
  async function invite(name: string): Promise<{ client: ConsoleClient; email: string }> {
    const email = `${uniqueName(name)}@example.com`;
    const { body } = await ada.post('/invitations', { email, role: 'member' });
    const client = new ConsoleClient(cluster.url);
    await client.post(`/links/${String(body.link).split('/link/')[1] ?? ''}`, { name, password: goodPassword });
    return { client, email };
  }

  async function open(email: string, ...look: [Parameters<typeof openConsolePage>[2]?]) {
    const opened = await openConsolePage(browser, cluster.url, ...look);
    const { page } = opened;
    await page.goto('/account');
    await page.getByLabel('E-mail').fill(email);
    await page.getByRole('textbox', { name: 'Password' }).fill(goodPassword);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
    await waitUntilLoaded(page);
    return opened;
  }

  it('lists the sessions, ends another one, and changes the name', async () => {
    const { client: bob, email } = await invite('bob');
    const { page, troubles } = await open(email);
    const own = page.getByRole('row', { name: /This one/ });
    await own.getByText('Chrome on Linux').waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'End the session of A browser' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End session' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect((await bob.get('/session')).status).toBe(401);
    await page.getByLabel('Your name').fill('Robert');
    await page.getByRole('button', { name: 'Change name' }).click();
    await page.getByRole('button', { name: 'Account of Robert' }).waitFor();
    expect(troubles).toEqual([]);
  });

  it('switches alerts by e-mail off and on', async () => {
    const { client: eve, email } = await invite('eve');
    const { page, troubles } = await open(email);
    const wants = async () => (await eve.get('/session')).body.user.alertEmails;
    const choice = page.getByRole('switch', { name: 'Send me alerts by e-mail' });
    await until(async () => expect(await choice.isChecked()).toBe(true));
    for (const wanted of [false, true]) {
      await choice.click();
      await until(async () => (await wants()) === wanted && (await choice.isChecked()) === wanted);
    }
    expect(troubles).toEqual([]);
  });

  it('has administrators set whom the alerts of the router are mailed to', async () => {
    const { page, troubles } = await open('ada@example.com');
    await page.goto('/admin/settings');
    await page.getByRole('combobox', { name: 'Alerts of the router go by e-mail to' }).click();
    await page.getByRole('option', { name: 'These addresses' }).click();
    await page
      .getByRole('textbox', { name: 'Addresses' })
      .or(page.getByRole('combobox', { name: 'Addresses' }))
      .fill('ops@example.com');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect((await ada.get('/settings')).body.alertEmails).toEqual({ router: ['ops@example.com'] });
    expect(await seriousViolations(page)).toEqual([]);
    expect(troubles).toEqual([]);
  });

  it('deletes the account with the password', async () => {
    const { email } = await invite('dave');
    const { page } = await open(email);
    await page.getByRole('button', { name: 'Delete my account' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete your account?' });
    await dialog.getByRole('textbox', { name: 'Your password' }).fill('wrong');
    await dialog.getByRole('button', { name: 'Delete my account' }).click();
    await dialog.getByText('This is not your password.').waitFor();
    await dialog.getByRole('textbox', { name: 'Your password' }).fill(goodPassword);
    await dialog.getByRole('button', { name: 'Delete my account' }).click();
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    const gone = await new ConsoleClient(cluster.url).signIn(email, goodPassword);
    expect(gone.status).toBe(401);
  });

  it('is all that somebody sees of whom a second factor is demanded', async () => {
    await ada.patch('/settings', { requireSecondFactor: true });
    const { page, troubles } = await open(carol, phone);
    await page.getByText('Your administrator demands a second factor.').waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    // Nothing that the API refuses until then, and a word on what goes on.
    await page.getByText('programs that you have signed in, go on as before').waitFor();
    await waitUntilLoaded(page);
    const headings = page.getByRole('heading', { level: 2 });
    expect(await headings.allTextContents()).toEqual(['Password', 'Second factor', 'Sessions', 'Sign out everywhere']);
    expect(await page.getByText('Could not load').count()).toBe(0);
    expect(troubles).toEqual([]);
    await page.goto('/keys');
    await page.waitForURL(`${cluster.url}/account`);
    await page.getByText('Your administrator demands a second factor.').waitFor();
    // Ada has none herself: what she demands holds for her as well.
    expect((await ada.get('/settings')).status).toBe(403);
    const client = new ConsoleClient(cluster.url);
    await client.signIn(carol, goodPassword);
    await setUpApp(client, goodPassword);
    await page.reload();
    await page.getByRole('heading', { name: 'Signed-in programs', exact: true }).waitFor();
    await page.getByText('No signed-in programs').waitFor();
  });
});
