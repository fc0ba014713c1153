import { randomBytes } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConsoleClient } from '../../helpers/console/console-client.ts';
import { phone, wide, type LookOptions } from '../../helpers/console/console-page.ts';
import { expectAccessible } from '../../helpers/console/expect-accessible.ts';
import { inviteToConsole, joinConsole, openPageAs } from '../../helpers/console/open-as.ts';
import { chromiumPath, openBrowser } from '../../helpers/console/open-browser.ts';
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
    key = String((await bob.post('/keys', { kind: 'user', name: 'laptop' })).body.raw);
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await cluster?.stop();
  });

  const open = (client: ConsoleClient, path: string, look: LookOptions = wide) =>
    openPageAs(browser, { client }, path, { look });

  /** Sends a request once its key is recorded. */
  async function send(text: string): Promise<string> {
    const answer = await fetch(`${cluster.url}/api/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo', stream: true, messages: [{ role: 'user', content: text }] }),
    });
    await answer.text();
    expect(answer.headers.get('x-rtr-recorded')).toBe('true');
    return answer.headers.get('x-request-id') ?? '';
  }

  it('are switched on by the person of a key, who is told so, and by nobody else', async () => {
    const admins = await open(ada, '/keys');
    await admins.page.getByRole('button', { name: 'Actions for laptop' }).click();
    await admins.page.getByRole('menuitem', { name: 'Revoke' }).waitFor();
    expect(await admins.page.getByRole('menuitem', { name: 'Record requests' }).count()).toBe(0);
    await admins.context.close();

    const { page, context, troubles } = await open(bob, '/keys');
    expect(await page.getByText('Prompts and answers are recorded').count()).toBe(0);
    await page.getByRole('button', { name: 'Actions for laptop' }).click();
    await page.getByRole('menuitem', { name: 'Record requests' }).click();
    await page.getByRole('button', { name: 'Record requests' }).click();
    await page.getByText(/Requests with the key laptop, since .*, switched on by Bob\./).waitFor();
    await page.getByText('Recorded', { exact: true }).waitFor();
    await expectAccessible(page);
    for (const path of ['/requests', '/sessions']) {
      await page.goto(path);
      await page.getByText(/Requests with the key laptop, since/).waitFor();
    }
    expect(troubles).toEqual([]);
    await context.close();
    // Whom it does not concern is told nothing.
    const other = await open(ada, '/keys');
    expect(await other.page.getByText('Prompts and answers are recorded').count()).toBe(0);
    await other.context.close();
  });

  it('show the conversation to an administrator, which is in the audit trail, and hostile text is text', async () => {
    const id = await send(hostile);
    const { page, context, troubles } = await open(ada, `/requests/${id}`, phone);
    const recording = page.getByRole('region', { name: 'Recording' });
    await recording.waitFor();
    const trail = async () => (await ada.get('/audit?limit=10&action=recording.read')).body.data as object[];
    expect(await trail()).toEqual([]);
    await recording.getByRole('button', { name: 'Show conversation' }).click();
    const request = recording.getByRole('region', { name: 'Request' });
    await request.getByText(hostile).waitFor();
    const answer = recording.getByRole('region', { name: 'Answer' });
    expect(await answer.innerText()).toMatch(/assistant\s+\S/);
    expect(await page.title()).not.toMatch(/taken|^1$/);
    expect(await trail()).toMatchObject([{ actor: { name: 'Ada' }, target: { kind: 'recording', id } }]);
    await expectAccessible(page);
    await recording.getByRole('button', { name: 'Raw' }).click();
    expect(await answer.innerText()).toContain('data: {');
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
    const { body } = await ada.get('/audit?limit=10&action=recording.*');
    expect(body.data).toMatchObject([{ action: 'recording.delete', target: { id } }, { action: 'recording.read' }]);
    expect(troubles).toEqual([]);
    await context.close();
  });

  it('of a team are switched by its owners and administrators, which its members are told', async () => {
    const { body: team } = await ada.post('/teams', { name: 'Blue' });
    await ada.put(`/teams/${team.id}/members/${bobsId}`, { role: 'member' });
    const asMember = await open(bob, '/teams');
    await asMember.page.getByRole('heading', { name: 'Blue' }).waitFor();
    expect(await asMember.page.getByRole('button', { name: 'Record requests' }).count()).toBe(0);
    await asMember.context.close();

    const admins = await open(ada, '/admin/teams');
    await admins.page.getByRole('button', { name: 'Actions for Blue' }).click();
    await admins.page.getByRole('menuitem', { name: 'Record requests' }).click();
    await admins.page.getByRole('button', { name: 'Record requests' }).click();
    await admins.page.getByRole('dialog').waitFor({ state: 'detached' });
    await admins.context.close();

    await ada.put(`/teams/${team.id}/members/${bobsId}`, { role: 'owner' });
    const { page, context, troubles } = await open(bob, '/teams', phone);
    await page.getByText(/Requests with any key of the team Blue, since .*, switched on by Ada\./).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Stop recording' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Stop recording' }).click();
    await page.getByText(/any key of the team Blue/).waitFor({ state: 'detached' });
    expect((await bob.get('/teams')).body).toMatchObject([{ records: false }]);
    expect(troubles).toEqual([]);
    await context.close();
  });
});
