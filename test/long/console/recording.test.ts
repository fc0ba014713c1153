// @module-tag chromium
import { randomBytes } from 'node:crypto';
import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { askChat } from '../../helpers/console/ask-chat.ts';
import { phone, waitUntilLoaded } from '../../helpers/console/console-page.ts';
import { chooseAction, pressAndConfirm } from '../../helpers/console/page-actions.ts';
import { expectAccessible } from '../../helpers/console/page-checks.ts';
import { shareConsole } from '../../helpers/console/console-with-ada.ts';
import { openPageAs, type KnownPerson, type TabOptions } from '../../helpers/console/open-as.ts';
import { startCollector } from '../../helpers/tracing/start-collector.ts';
import { uniqueName } from '../../helpers/unique-name.ts';
import { until } from '../../helpers/until.ts';

const hostile = '</pre><img src=x onerror="document.title=1"><script>document.title="taken"</script>';

const settings = { RECORDINGS: 'on', SEAL_SECRET: randomBytes(32).toString('hex') };

describe('recordings in the console', () => {
  const here = shareConsole();
  let origin: string;
  let bob: KnownPerson;
  let key: string;

  beforeAll(async () => {
    ({ url: origin } = await here.cluster.addIngress(settings));
    const person = await here.invite('Bob');
    bob = { ...person, client: person.client.at(origin) };
  });

  const open = (person: KnownPerson, path: string, options: TabOptions = {}) =>
    openPageAs(person, path, { origin, ...options });

  /** Sends a request, and waits until the ledger has it: the page of one request does not look again. */
  async function ask(text: string, withKey: string): Promise<{ id: string; told: string | null }> {
    const answer = await askChat({ url: origin, key: withKey }, text, { stream: true });
    const id = answer.headers.get('x-request-id') ?? '';
    await until(async () => (await here.ada.client.get(`/usage/requests/${id}`)).status === 200);
    return { id, told: answer.headers.get('x-rtr-recorded') };
  }

  async function send(text: string): Promise<string> {
    const { id, told } = await ask(text, key);
    expect(told).toBe('true');
    await until(async () => (await bob.client.get(`/recordings/${id}`)).status === 200);
    return id;
  }

  const teamOf = (page: Page, name: string): Locator => page.getByRole('region', { name });

  /** What the audit trail has of a recording. */
  async function trailOf(id: string): Promise<object[]> {
    const { body } = await here.ada.client.get('/audit?limit=50&action=recording.*');
    return (body.data as { target: { id: string } }[]).filter(({ target }) => target.id === id);
  }

  it('are switched on by the person of a key, who is told so, and by nobody else', async () => {
    const name = uniqueName('laptop');
    key = String((await bob.client.post('/keys', { kind: 'user', name })).body.raw);
    const ofKey = new RegExp(`Requests with the key ${name}, since .*, switched on by ${bob.name}\\.`);
    const admins = await open(here.ada, '/keys');
    await admins.page.getByRole('button', { name: `Actions for ${name}` }).click();
    await admins.page.getByRole('menuitem', { name: 'Revoke' }).waitFor();
    expect(await admins.page.getByRole('menuitem', { name: 'Record requests' }).count()).toBe(0);

    const { page } = await open(bob, '/keys');
    await waitUntilLoaded(page);
    expect(await page.getByText(ofKey).count()).toBe(0);
    await chooseAction(page, name, 'Record requests');
    await page.getByRole('button', { name: 'Record requests' }).click();
    await page.getByText(ofKey).waitFor();
    await page.getByRole('row', { name }).getByText('Recorded', { exact: true }).waitFor();
    await expectAccessible(page);
    for (const path of ['/requests', '/sessions']) {
      await page.goto(path);
      await page.getByText(ofKey).waitFor();
    }
    // Whom it does not concern is told nothing.
    const other = await open(here.ada, '/keys');
    await waitUntilLoaded(other.page);
    expect(await other.page.getByText('Prompts and answers are recorded').count()).toBe(0);
  });

  it('show the conversation to an administrator, which is in the audit trail, and hostile text is text', async () => {
    const id = await send(hostile);
    const { page } = await open(here.ada, `/requests/${id}`, { look: phone });
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
    const read = { action: 'recording.read', actor: { name: 'Ada' }, target: { kind: 'recording' } };
    expect(await trail()).toMatchObject([read]);
    await expectAccessible(page);
    await recording.getByRole('button', { name: 'Raw' }).click();
    await until(async () => expect(await answer.innerText()).toContain('data: {'));
  });

  it('are deleted by the person, whose reading is in no audit trail', async () => {
    const id = await send('Forget this.');
    const { page } = await open(bob, `/requests/${id}`);
    const recording = page.getByRole('region', { name: 'Recording' });
    await recording.getByRole('button', { name: 'Show conversation' }).click();
    await recording.getByRole('region', { name: 'Request' }).getByText('Forget this.').waitFor();
    await pressAndConfirm(page, 'Delete recording', 'Delete recording');
    await recording.waitFor({ state: 'detached' });
    expect((await bob.client.get(`/recordings/${id}`)).status).toBe(404);
    expect(await trailOf(id)).toMatchObject([{ action: 'recording.delete' }]);
  });

  it('are found by a filter of the log, which stands in the address', async () => {
    const plain = String((await bob.client.post('/keys', { kind: 'user', name: uniqueName('plain') })).body.raw);
    const id = await send('Hello!');
    const other = await ask('Hello!', plain);
    expect(other.told).toBeNull();
    const { page } = await open(bob, '/requests');
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
  });

  it('are told to whom they concern to go to the collector of traces as well, where they do', async () => {
    const collector = await startCollector();
    onTestFinished(() => collector.stop());
    const name = uniqueName('next');
    await bob.client.post('/keys', { kind: 'user', name });
    const { url } = await here.cluster.addIngress({ ...settings, ...collector.environment, RECORDINGS: 'traced' });
    for (const at of [url, origin]) {
      const isTold = at === url;
      const { page } = await open(bob, '/keys', { origin: at });
      await page.getByRole('note').getByText('Requests with the key').first().waitFor();
      const told = page.getByText('The messages are also sent to the collector of traces');
      await waitUntilLoaded(page);
      const notes = async () => [at, await page.getByRole('note').filter({ has: told }).count()];
      await until(async () => expect(await notes()).toEqual([at, isTold ? 1 : 0]));
      await chooseAction(page, name, 'Record requests');
      const dialog = page.getByRole('dialog');
      await dialog.getByText('Each answer says that it is recorded').waitFor();
      await until(async () => expect(await dialog.filter({ has: told }).count()).toBe(isTold ? 1 : 0));
      if (isTold) await expectAccessible(page);
    }
  });

  it('of a team are switched by its owners and administrators, which its members are told', async () => {
    const name = uniqueName('Blue');
    const { body: team } = await here.ada.client.post('/teams', { name });
    const ofTeam = new RegExp(`Requests with any key of the team ${name}, since .*, switched on by Ada\\.`);
    await here.ada.client.put(`/teams/${team.id}/members/${bob.id}`, { role: 'member' });
    const asMember = await open(bob, '/teams');
    await asMember.page.getByRole('heading', { name }).waitFor();
    expect(await teamOf(asMember.page, name).getByRole('button', { name: 'Record requests' }).count()).toBe(0);

    const admins = await open(here.ada, '/admin/teams');
    await chooseAction(admins.page, name, 'Record requests');
    await admins.page.getByRole('button', { name: 'Record requests' }).click();
    await admins.page.getByRole('dialog').waitFor({ state: 'detached' });

    await here.ada.client.put(`/teams/${team.id}/members/${bob.id}`, { role: 'owner' });
    const { page } = await open(bob, '/teams', { look: phone });
    await page.getByText(ofTeam).waitFor();
    await expectAccessible(page);
    await teamOf(page, name).getByRole('button', { name: 'Stop recording' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Stop recording' }).click();
    await page.getByText(ofTeam).waitFor({ state: 'detached' });
    const teams = (await bob.client.get('/teams')).body as { id: string; records: boolean }[];
    expect(teams.find(({ id }) => id === team.id)).toMatchObject({ records: false });
  });
});
