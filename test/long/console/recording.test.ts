import { randomBytes } from 'node:crypto';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ConsoleClient } from '../../helpers/console/console-client.ts';
import { phone, waitUntilLoaded, wide, type LookOptions } from '../../helpers/console/console-page.ts';
import { expectAccessible } from '../../helpers/console/expect-accessible.ts';
import { inviteToConsole, joinConsole, openPageAs } from '../../helpers/console/open-as.ts';
import { chromiumPath, openBrowser } from '../../helpers/console/open-browser.ts';
import { startCollector } from '../../helpers/tracing/start-collector.ts';
import { uniqueName } from '../../helpers/unique-name.ts';
import { until } from '../../helpers/until.ts';
import { startConsole, type ConsoleCluster } from '../../helpers/console/start-console.ts';

const hostile = '</pre><img src=x onerror="document.title=1"><script>document.title="taken"</script>';

describe.skipIf(chromiumPath === undefined)('recordings in the console', () => {
  let cluster: ConsoleCluster;
  let browser: Browser;
  let ada: ConsoleClient;
  let bob: ConsoleClient;
  let bobsId: string;
  let key: string;

  beforeAll(async () => {
    const ingress = { RECORDINGS: 'on', SEAL_SECRET: randomBytes(32).toString('hex') };
    [cluster, browser] = await Promise.all([startConsole({ ingress }), openBrowser()]);
    const admin = await joinConsole(new ConsoleClient(cluster.url), cluster.firstLink, 'Ada');
    ada = admin.client;
    ({ client: bob, id: bobsId } = await inviteToConsole(admin, 'Bob'));
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await cluster?.stop();
  });

  const open = (client: ConsoleClient, path: string, look: LookOptions = wide, origin = cluster.url) =>
    openPageAs(browser, { client }, path, { look, origin });

  /** Sends a request, and waits until the ledger has it: the page of one request does not look again. */
  async function ask(text: string, withKey: string): Promise<{ id: string; told: string | null }> {
    const answer = await fetch(`${cluster.url}/api/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${withKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo', stream: true, messages: [{ role: 'user', content: text }] }),
    });
    await answer.text();
    const id = answer.headers.get('x-request-id') ?? '';
    await until(async () => (await ada.get(`/usage/requests/${id}`)).status === 200);
    return { id, told: answer.headers.get('x-rtr-recorded') };
  }

  /** Sends a request once its key is recorded. */
  async function send(text: string): Promise<string> {
    const { id, told } = await ask(text, key);
    expect(told).toBe('true');
    await until(async () => (await bob.get(`/recordings/${id}`)).status === 200);
    return id;
  }

  const teamOf = (page: Page, name: string): Locator => page.getByRole('region', { name });

  /** What the audit trail has of a recording. */
  async function trailOf(id: string): Promise<object[]> {
    const { body } = await ada.get('/audit?limit=50&action=recording.*');
    return (body.data as { target: { id: string } }[]).filter(({ target }) => target.id === id);
  }

  it('are switched on by the person of a key, who is told so, and by nobody else', async () => {
    const name = uniqueName('laptop');
    key = String((await bob.post('/keys', { kind: 'user', name })).body.raw);
    const ofKey = new RegExp(`Requests with the key ${name}, since .*, switched on by Bob\\.`);
    const admins = await open(ada, '/keys');
    await admins.page.getByRole('button', { name: `Actions for ${name}` }).click();
    await admins.page.getByRole('menuitem', { name: 'Revoke' }).waitFor();
    expect(await admins.page.getByRole('menuitem', { name: 'Record requests' }).count()).toBe(0);
    await admins.context.close();

    const { page, context, troubles } = await open(bob, '/keys');
    await waitUntilLoaded(page);
    expect(await page.getByText(ofKey).count()).toBe(0);
    await page.getByRole('button', { name: `Actions for ${name}` }).click();
    await page.getByRole('menuitem', { name: 'Record requests' }).click();
    await page.getByRole('button', { name: 'Record requests' }).click();
    await page.getByText(ofKey).waitFor();
    await page
      .getByRole('row', { name: new RegExp(name) })
      .getByText('Recorded', { exact: true })
      .waitFor();
    await expectAccessible(page);
    for (const path of ['/requests', '/sessions']) {
      await page.goto(path);
      await page.getByText(ofKey).waitFor();
    }
    expect(troubles).toEqual([]);
    await context.close();
    // Whom it does not concern is told nothing.
    const other = await open(ada, '/keys');
    await waitUntilLoaded(other.page);
    expect(await other.page.getByText('Prompts and answers are recorded').count()).toBe(0);
    await other.context.close();
  });

  it('show the conversation to an administrator, which is in the audit trail, and hostile text is text', async () => {
    const id = await send(hostile);
    const { page, context, troubles } = await open(ada, `/requests/${id}`, phone);
    const recording = page.getByRole('region', { name: 'Recording' });
    await recording.waitFor();
    const trail = () => trailOf(id);
    expect(await trail()).toEqual([]);
    await recording.getByRole('button', { name: 'Show conversation' }).click();
    const request = recording.getByRole('region', { name: 'Request' });
    await request.getByText(hostile).waitFor();
    const answer = recording.getByRole('region', { name: 'Answer' });
    await until(async () => expect(await answer.innerText()).toMatch(/assistant\s+\S/));
    expect(await page.title()).not.toMatch(/taken|^1$/);
    expect(await trail()).toMatchObject([
      { action: 'recording.read', actor: { name: 'Ada' }, target: { kind: 'recording' } },
    ]);
    await expectAccessible(page);
    await recording.getByRole('button', { name: 'Raw' }).click();
    await until(async () => expect(await answer.innerText()).toContain('data: {'));
    expect(troubles).toEqual([]);
    await context.close();
  });

  it('are deleted by the person, whose reading is in no audit trail', async () => {
    const id = await send('Forget this.');
    const { page, context, troubles } = await open(bob, `/requests/${id}`);
    const recording = page.getByRole('region', { name: 'Recording' });
    await recording.getByRole('button', { name: 'Show conversation' }).click();
    await recording.getByRole('region', { name: 'Request' }).getByText('Forget this.').waitFor();
    await recording.getByRole('button', { name: 'Delete recording' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete recording' }).click();
    await recording.waitFor({ state: 'detached' });
    expect((await bob.get(`/recordings/${id}`)).status).toBe(404);
    expect(await trailOf(id)).toMatchObject([{ action: 'recording.delete' }]);
    expect(troubles).toEqual([]);
    await context.close();
  });

  it('are found by a filter of the log, which stands in the address', async () => {
    const plain = String((await bob.post('/keys', { kind: 'user', name: uniqueName('plain') })).body.raw);
    const id = await send('Hello!');
    const other = await ask('Hello!', plain);
    expect(other.told).toBeNull();
    const { page, context, troubles } = await open(bob, '/requests');
    const rowOf = (of: string): Locator => page.getByRole('row').filter({ has: page.getByLabel(`Details of ${of}`) });
    await rowOf(other.id).waitFor();
    await page.getByRole('combobox', { name: 'Recording' }).click();
    await page.getByRole('option', { name: 'Recorded', exact: true }).click();
    await rowOf(id).waitFor();
    await rowOf(other.id).waitFor({ state: 'detached' });
    await until(() => expect(new URL(page.url()).search).toBe('?recorded=true'));
    await page.reload();
    await rowOf(id).waitFor();
    expect(await rowOf(other.id).count()).toBe(0);
    await page.getByLabel(`Details of ${id}`).click();
    await page.getByText('prompt and answer were recorded').waitFor();
    await page.goto('/requests?recorded=false');
    await rowOf(other.id).waitFor();
    expect(await rowOf(id).count()).toBe(0);
    expect(troubles).toEqual([]);
    await context.close();
  });

  it('are told to whom they concern to go to the collector of traces as well, where they do', async () => {
    const collector = await startCollector();
    onTestFinished(() => collector.stop());
    const name = uniqueName('next');
    await bob.post('/keys', { kind: 'user', name });
    const { url } = await cluster.addIngress({ ...collector.environment, RECORDINGS_TRACES: 'on' });
    for (const { origin, isTold } of [
      { origin: url, isTold: true },
      { origin: cluster.url, isTold: false },
    ]) {
      const { page, context, troubles } = await open(bob, '/keys', wide, origin);
      await page.getByRole('note').getByText('Requests with the key').first().waitFor();
      const told = page.getByText('The messages are also sent to the collector of traces');
      await waitUntilLoaded(page);
      const notes = async () => [origin, await page.getByRole('note').filter({ has: told }).count()];
      await until(async () => expect(await notes()).toEqual([origin, isTold ? 1 : 0]));
      await page.getByRole('button', { name: `Actions for ${name}` }).click();
      await page.getByRole('menuitem', { name: 'Record requests' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('Each answer says that it is recorded').waitFor();
      await until(async () => expect(await dialog.filter({ has: told }).count()).toBe(isTold ? 1 : 0));
      if (isTold) await expectAccessible(page);
      expect(troubles).toEqual([]);
      await context.close();
    }
  });

  it('of a team are switched by its owners and administrators, which its members are told', async () => {
    const name = uniqueName('Blue');
    const { body: team } = await ada.post('/teams', { name });
    const ofTeam = new RegExp(`Requests with any key of the team ${name}, since .*, switched on by Ada\\.`);
    await ada.put(`/teams/${team.id}/members/${bobsId}`, { role: 'member' });
    const asMember = await open(bob, '/teams');
    await asMember.page.getByRole('heading', { name }).waitFor();
    expect(await teamOf(asMember.page, name).getByRole('button', { name: 'Record requests' }).count()).toBe(0);
    await asMember.context.close();

    const admins = await open(ada, '/admin/teams');
    await admins.page.getByRole('button', { name: `Actions for ${name}` }).click();
    await admins.page.getByRole('menuitem', { name: 'Record requests' }).click();
    await admins.page.getByRole('button', { name: 'Record requests' }).click();
    await admins.page.getByRole('dialog').waitFor({ state: 'detached' });
    await admins.context.close();

    await ada.put(`/teams/${team.id}/members/${bobsId}`, { role: 'owner' });
    const { page, context, troubles } = await open(bob, '/teams', phone);
    await page.getByText(ofTeam).waitFor();
    await expectAccessible(page);
    await teamOf(page, name).getByRole('button', { name: 'Stop recording' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Stop recording' }).click();
    await page.getByText(ofTeam).waitFor({ state: 'detached' });
    const teams = (await bob.get('/teams')).body as { id: string; records: boolean }[];
    expect(teams.find(({ id }) => id === team.id)).toMatchObject({ records: false });
    expect(troubles).toEqual([]);
    await context.close();
  });
});
