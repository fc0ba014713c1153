import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConsoleClient } from '../../helpers/console/console-client.ts';
import { openConsolePage, phone, seriousViolations, waitUntilLoaded } from '../../helpers/console/console-page.ts';
import { goodPassword } from '../../helpers/console/good-password.ts';
import { joinConsole } from '../../helpers/console/open-as.ts';
import { chromiumPath, openBrowser } from '../../helpers/console/open-browser.ts';
import { startConsole, type ConsoleCluster } from '../../helpers/console/start-console.ts';
import { uniqueName } from '../../helpers/unique-name.ts';
import { until } from '../../helpers/until.ts';

describe.skipIf(chromiumPath === undefined)('teams and ceilings in the console', () => {
  let cluster: ConsoleCluster;
  let browser: Browser;
  let ada: ConsoleClient;
  let bob: ConsoleClient;
  let bobId: string;

  beforeAll(async () => {
    [cluster, browser] = await Promise.all([startConsole(), openBrowser()]);
    ({ client: ada } = await joinConsole(new ConsoleClient(cluster.url), cluster.firstLink, 'Ada'));
    bob = await invite('bob');
    await invite('eve');
    bobId = String((await bob.get('/session')).body.user.id);
    const { body: team } = await ada.post('/teams', { name: 'Engines' });
    await ada.put(`/teams/${team.id}/members/${bobId}`, { role: 'owner' });
  });
  afterAll(async () => {
    await browser?.close();
    await cluster?.stop();
  });

  async function invite(name: string): Promise<ConsoleClient> {
    const { body } = await ada.post('/invitations', { email: `${name}@example.com`, role: 'member' });
    const client = new ConsoleClient(cluster.url);
    await client.post(`/links/${String(body.link).split('/link/')[1] ?? ''}`, { name, password: goodPassword });
    return client;
  }

  async function open(name: string, path: string, ...look: [Parameters<typeof openConsolePage>[2]?]) {
    const opened = await openConsolePage(browser, cluster.url, ...look);
    const { page } = opened;
    await page.goto(path);
    await page.getByLabel('E-mail').fill(`${name}@example.com`);
    await page.getByRole('textbox', { name: 'Password' }).fill(goodPassword);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('navigation', { name: 'Pages' }).waitFor({ state: 'attached' });
    await waitUntilLoaded(page);
    return opened;
  }

  async function choose(page: Page, field: string, option: string): Promise<void> {
    await page.getByRole('dialog').getByRole('combobox', { name: field }).click();
    await page.getByRole('option', { name: option }).click();
  }

  it('are set by an administrator, for one person and for new members', async () => {
    await ada.patch(`/users/${bobId}`, { ceiling: {} });
    const { page, troubles, context } = await open('ada', '/admin/people');
    await page.getByRole('button', { name: 'Actions for bob' }).click();
    await page.getByRole('menuitem', { name: 'Limits' }).click();
    await choose(page, 'Highest class', 'low');
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    const bobNow = async () => (await ada.get('/users')).body.find(({ id }: { id: string }) => id === bobId);
    expect(await bobNow()).toMatchObject({ ceiling: { maxClass: 'low' } });
    await page.goto('/admin/settings');
    await page.getByRole('group', { name: 'What new members begin with' }).getByLabel('Dollars a month').fill('20');
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect((await ada.get('/settings')).body).toMatchObject({ newMembers: { limits: { costPerMonth: 20 } } });
    expect(troubles).toEqual([]);
    await context.close();
  });

  it('show somebody whose key an administrator has made what they cannot change', async () => {
    await ada.patch(`/users/${bobId}`, { ceiling: { maxClass: 'low' } });
    const { page: admin, context } = await open('ada', '/keys');
    await admin.getByRole('button', { name: 'New key' }).click();
    await choose(admin, 'Person', 'bob');
    const dialog = admin.getByRole('dialog');
    const name = uniqueName('build machine');
    await dialog.getByRole('textbox', { name: 'Name' }).fill(name);
    await dialog.getByLabel('Dollars a month').fill('5');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByRole('button', { name: 'I have copied it' }).click();
    await context.close();
    const { page, troubles } = await open('bob', '/keys');
    await page.getByRole('button', { name: `Actions for ${name}` }).click();
    await page.getByRole('menuitem', { name: 'Change' }).click();
    const form = page.getByRole('dialog');
    await form.getByText('Its owner may use: class low at most.').waitFor();
    expect(await form.getByLabel('Dollars a month').isDisabled()).toBe(true);
    await form.getByLabel('Requests a minute').fill('30');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.waitFor({ state: 'hidden' });
    const all = (await bob.get('/keys')).body as { name: string }[];
    expect(all.find((key) => key.name === name)).toMatchObject({
      limits: { costPerMonth: 5, requestsPerMinute: 30 },
      adminSet: ['limits.costPerMonth'],
    });
    expect(troubles).toEqual([]);
  });

  it('have a page for the owner of a team, who adds and removes people', async () => {
    const { page, troubles } = await open('bob', '/teams');
    await page.getByRole('heading', { level: 2, name: 'Engines' }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Change members of Engines' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Add someone by e-mail address').fill('nobody@example.com');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await dialog.getByText('Nobody has an account with this address.').waitFor();
    await dialog.getByLabel('Add someone by e-mail address').fill('eve@example.com');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await dialog.getByRole('button', { name: 'Remove eve' }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Remove eve' }).click();
    await dialog.getByRole('button', { name: 'Remove eve' }).waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    // The name is an administrator's.
    expect(await page.getByRole('button', { name: /Rename/ }).count()).toBe(0);
    expect(troubles).toEqual([]);
  });

  it('fit a phone, and are not in the menu of somebody without a team', async () => {
    const { page } = await open('bob', '/teams', phone);
    const width = () => page.evaluate<number>('document.documentElement.scrollWidth');
    await until(async () => (await width()) <= phone.width);
    const { page: eve } = await open('eve', '/');
    await eve.getByRole('link', { name: 'API keys' }).waitFor();
    expect(await eve.getByRole('link', { name: 'Teams' }).count()).toBe(0);
  });
});
