// @module-tag chromium
import type { Locator, Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { post } from '../../helpers/clients/keyed-requests.ts';
import type { Cluster } from '../../helpers/cluster/start-cluster.ts';
import { askChat } from '../../helpers/console/ask-chat.ts';
import { openConsolePage } from '../../helpers/console/console-page.ts';
import { choose, chooseAction, takeSecret } from '../../helpers/console/page-actions.ts';
import { shareConsole } from '../../helpers/console/console-with-ada.ts';
import { openAs } from '../../helpers/console/open-as.ts';
import { uniqueName } from '../../helpers/unique-name.ts';
import { until } from '../../helpers/until.ts';

describe('the console', () => {
  const here = shareConsole();
  let page: Page;

  beforeAll(() => here.cluster.addToolsWorker());
  beforeEach(async () => {
    ({ page } = await openAs(here.ada));
  });

  const statusWith = async (key: string): Promise<number> => (await askChat({ ...here.cluster, key })).status;

  it('shows a request on Overview within seconds, without a reload', async () => {
    await page.goto('/');
    const tile = page.getByRole('region', { name: 'Requests per second' });
    const lately = async (): Promise<number> =>
      Number(/[\d,]+/.exec(await tile.getByText(/in the last minute/).innerText())?.[0].replaceAll(',', ''));
    const before = await lately();
    // As many that were sent before may be older than a minute meanwhile.
    await until(async () => {
      await askChat(here.cluster);
      expect(await lately()).toBeGreaterThan(before);
    });
    await page.getByText(/\d served \(\d+ %\)/).waitFor();
  });

  it('shows on Overview that the connection is lost, and reconnects by itself', async () => {
    await page.route('**/console/api/live*', (route) => route.abort());
    await page.goto('/');
    await page.getByRole('status', { name: /^Offline/ }).waitFor();
    await page.unroute('**/console/api/live*');
    await page.getByRole('status', { name: /^Live/ }).waitFor();
    await until(async () => expect(await page.getByRole('status', { name: /^Offline/ }).count()).toBe(0));
    await page.getByRole('region', { name: 'Requests per second' }).waitFor();
  });

  it('works while the browser is offline, because the router may be on the same machine', async () => {
    const name = uniqueName('offline');
    await page.goto('/keys');
    await page.getByRole('button', { name: 'New key' }).waitFor();
    await page.evaluate(`window.dispatchEvent(new Event('offline'))`);
    await makeKey(page, name);
    await page.getByRole('link', { name: 'Models' }).click();
    await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor();
    await page.getByText('demo', { exact: true }).first().waitFor();
    expect((await here.ada.client.get('/keys')).body).toContainEqual(expect.objectContaining({ name }));
  });

  it('runs a tool by the form made from its schema, or by raw JSON, and shows what is wrong with that', async () => {
    await page.goto('/tools');
    await page.getByRole('link', { name: 'Run calculator' }).click();
    const run = (): Promise<void> => page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByLabel('expression').fill('2^64');
    await run();
    const result = page.getByRole('region', { name: 'Result' });
    await until(async () => expect(await result.innerText()).toContain('18446744073709551616'));
    await page.getByRole('switch', { name: 'Write JSON' }).click();
    await page.getByLabel('JSON', { exact: true }).fill('{"expression": ');
    await run();
    await page.getByText('This is not JSON').waitFor();
    await page.getByLabel('JSON', { exact: true }).fill('{"expr": 1}');
    await run();
    await page.getByText('The tool was not run').waitFor();
    await until(async () => expect(await page.getByText('This is not JSON').count()).toBe(0));
  });

  it('creates a key that works, changes, rotates and revokes it', async () => {
    await page.goto('/keys');
    const [name, changed] = [uniqueName('laptop'), uniqueName('laptop of Ada')];
    const raw = await makeKey(page, name);
    expect(await statusWith(raw)).toBe(200);
    await until(async () => expect(await page.content()).not.toContain(raw));

    await chooseAction(page, name, 'Change');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(changed);
    await dialog.getByLabel('Requests a minute').fill('30');
    // Key by key, as a person types: for a moment nothing follows the point.
    await dialog.getByLabel('Dollars a day').pressSequentially('12.50');
    await dialog.getByRole('button', { name: 'Save' }).click();
    const row = page.getByRole('row', { name: new RegExp(changed) });
    await row.getByText('30 requests a minute').waitFor();
    await row.getByText('$12.50 a day').waitFor();

    await chooseAction(page, changed, 'Rotate');
    const next = await takeSecret(page, 'Create new key', 'the key');
    expect(next).not.toBe(raw);
    for (const key of [raw, next]) expect(await statusWith(key)).toBe(200);

    await page.getByLabel(`Actions for ${changed}`).first().click();
    await page.getByRole('menuitem', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).click();
    await until(async () => expect(await page.getByRole('dialog').count()).toBe(0));
    await until(async () => {
      expect(new Set([await statusWith(raw), await statusWith(next)])).toEqual(new Set([200, 401]));
    });
  });

  it('has those tools only that its form grants, and all when it names none', async () => {
    await page.goto('/keys');
    const name = uniqueName('sums');
    const raw = await makeKey(page, name, async (dialog) => {
      await choose(dialog, 'Tools', 'calculator');
      await dialog.getByLabel('Name').click();
    });
    expect(await toolsOf(here.cluster, raw)).toEqual(['calculator']);
    expect(await useTool(here.cluster, raw, 'calculator', { expression: '2^64' })).toBe(200);
    expect(await useTool(here.cluster, raw, 'current_time')).toBe(403);

    await chooseAction(page, name, 'Change');
    await page.getByRole('dialog').getByLabel('Allow all tools').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await until(async () => expect((await toolsOf(here.cluster, raw)).length).toBeGreaterThan(1));
    expect(await useTool(here.cluster, raw, 'current_time')).toBe(200);
  });

  it('marks a name of a key that is invalid, and shows markup in one as text', async () => {
    await page.goto('/keys');
    await page.getByRole('button', { name: 'New key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('   ');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByText(/name/i).nth(1).waitFor();
    await until(async () => expect(await dialog.getByLabel('Name').getAttribute('aria-invalid')).toBe('true'));
    const name = '<img src=x onerror="window.hit=1">';
    await dialog.getByLabel('Name').fill(name);
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByText(name).first().waitFor();
    expect(await page.evaluate('window.hit')).toBeUndefined();
  });

  it('invites a person, who joins a team, sees less, and can be blocked', async () => {
    const [team, email, name] = [uniqueName('Engines'), `${uniqueName('grace')}@example.com`, uniqueName('Grace')];
    await page.goto('/admin/teams');
    await page.getByRole('button', { name: 'New team' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill(team);
    await page.getByRole('dialog').getByRole('button', { name: 'Create team' }).click();
    await page.getByText(team).waitFor();

    await page.goto('/admin/invitations');
    await page.getByRole('button', { name: 'Invite someone' }).click();
    await page.getByRole('dialog').getByLabel('E-mail').fill(email);
    await choose(page.getByRole('dialog'), 'Team', team);
    const link = await takeSecret(page, 'Create link', 'the link');
    await page.getByRole('row', { name: new RegExp(`${email}.*${team}`) }).waitFor();

    const guest = await openConsolePage(here.cluster.url);
    await guest.page.goto(new URL(link).pathname);
    await guest.page.getByLabel('Your name').fill(name);
    await guest.page.getByRole('textbox', { name: 'Password' }).fill('cobol moth ledger 1906');
    await guest.page.getByRole('button', { name: 'Create account' }).click();
    await guest.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    expect(await guest.page.getByRole('link', { name: 'Admin' }).count()).toBe(0);
    await guest.page.goto('/workers');
    await guest.page.getByText('Serving').first().waitFor();
    expect(await guest.page.getByRole('button', { name: /^Drain/ }).count()).toBe(0);
    await guest.page.goto('/account');
    await guest.page.getByText(`Member · ${team}`).waitFor();

    await page.goto(`/admin/people?search=${name}`);
    await chooseAction(page, name, 'Block');
    await page.getByRole('dialog').getByRole('button', { name: 'Block' }).click();
    await page.getByRole('row', { name }).getByText('Blocked').waitFor();
    // The open page too: its live feed ends within seconds, and the page then finds its session ended.
    await guest.page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  });

  it('shows why an invitation is refused, although no input of its form can show that', async () => {
    const name = uniqueName('Engines');
    const { body: team } = await here.ada.client.post('/teams', { name });
    await page.goto('/admin/invitations');
    await page.getByRole('button', { name: 'Invite someone' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('E-mail').fill(`${uniqueName('grace')}@example.com`);
    await choose(dialog, 'Team', name);
    expect((await here.ada.client.delete(`/teams/${team.id}`)).status).toBe(204);
    await dialog.getByRole('button', { name: 'Create link' }).click();
    await dialog.getByRole('alert').getByText('This team does not exist.').waitFor();
  });

  it('sets a price, by which requests are then charged, and resets it', async () => {
    const { body: key } = await here.ada.client.post('/keys', { kind: 'user', name: uniqueName('charged') });
    await page.goto('/admin/prices');
    await page.getByRole('button', { name: 'Set a price' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Model').fill('demo');
    await dialog.getByLabel('Input', { exact: true }).fill('1000');
    await dialog.getByLabel('Output').fill('2000');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByLabel('Find a model').fill('demo');
    await page.getByRole('cell', { name: '$2,000.00' }).waitFor();
    expect(await statusWith(String(key.raw))).toBe(200);
    await page.goto(`/usage?measure=cost&key=${key.key.id}`);
    const cost = page.getByRole('region', { name: 'Cost' });
    await cost.getByText(/^\$0\.0[1-9]|^\$0\.[1-9]/).waitFor();
    await page.goto('/admin/prices');
    await page.getByRole('button', { name: 'Reset the price of demo' }).click();
    await dialog.getByRole('button', { name: 'Reset price' }).click();
    await page.getByRole('button', { name: 'Reset the price of demo' }).waitFor({ state: 'detached' });
    await page.goto('/admin/audit');
    await page.getByText('price.change').first().waitFor();
  });
});

async function makeKey(page: Page, name: string, fill?: (dialog: Locator) => Promise<void>): Promise<string> {
  await page.getByRole('button', { name: 'New key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill(name);
  await fill?.(dialog);
  const raw = await takeSecret(page, 'Create key', 'the key');
  await until(async () => expect(await page.getByRole('dialog').count()).toBe(0));
  return raw;
}

async function toolsOf({ url }: Cluster, key: string): Promise<string[]> {
  const answer = await fetch(`${url}/api/tools/v1/list`, { headers: { authorization: `Bearer ${key}` } });
  return ((await answer.json()) as { data: { name: string }[] }).data.map(({ name }) => name);
}

async function useTool({ url }: Cluster, key: string, tool: string, input: object = {}): Promise<number> {
  const answer = await post({ url, key, path: '/tools/v1/execute', body: { tool, input } });
  await answer.text();
  return answer.status;
}
