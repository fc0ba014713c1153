// @module-tag chromium
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { batchClients, chatLine, submit } from '../../helpers/batches/batch-clients.ts';
import { askChat } from '../../helpers/console/ask-chat.ts';
import { waitUntilLoaded } from '../../helpers/console/console-page.ts';
import { chooseAction } from '../../helpers/console/page-actions.ts';
import { expectNoViolation } from '../../helpers/console/page-checks.ts';
import { shareConsole } from '../../helpers/console/console-with-ada.ts';
import { openAs, type KnownPerson, openPageAs } from '../../helpers/console/open-as.ts';
import { uniqueName } from '../../helpers/unique-name.ts';
import { until } from '../../helpers/until.ts';

describe('people are offered what they may do alone', () => {
  const here = shareConsole();
  let bob: KnownPerson;
  let eve: KnownPerson;

  beforeAll(async () => {
    [bob, eve] = [await here.invite('Bob'), await here.invite('Eve')];
    await addTeam();
  });

  async function addTeam() {
    const name = uniqueName('Engines');
    const id = String((await here.ada.client.post('/teams', { name })).body.id);
    await here.ada.client.put(`/teams/${id}/members/${bob.id}`, { role: 'owner' });
    await here.ada.client.put(`/teams/${id}/members/${eve.id}`, { role: 'member' });
    return { id, name, key: await makeKey(bob, { kind: 'team', teamId: id, name: uniqueName('team key') }) };
  }

  async function makeKey({ client }: KnownPerson, body: { kind: string; name: string; teamId?: string }) {
    const { body: made } = await client.post('/keys', body);
    return { id: String(made.key.id), name: body.name, raw: String(made.raw) };
  }

  async function offered(page: Page, key: string): Promise<string[]> {
    await page.getByRole('button', { name: `Actions for ${key}` }).click();
    await page.getByRole('menu').waitFor();
    const names = await page.getByRole('menuitem').allInnerTexts();
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'hidden' });
    return names;
  }

  it('by every page, none of which asks for what is refused', async () => {
    for (const person of [bob, eve]) {
      const { page } = await openAs(person);
      const refused: string[] = [];
      page.on('response', (response) => {
        if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`);
      });
      await page.goto('/');
      const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
      await links.first().waitFor();
      const pages = await page.evaluate<[string, string][]>(
        `[...document.querySelectorAll('nav a')].map((link) => [link.getAttribute('href'), link.innerText.trim()])`,
      );
      expect(pages.length).toBeGreaterThan(8);
      for (const [path, title] of [...pages, ['/account', 'Account']] as const) {
        if (path === '/account') await page.goto(path);
        else await page.locator(`nav a[href="${path}"]`).click();
        await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
        await waitUntilLoaded(page);
        const actions = await page.locator('main').getByRole('button').allInnerTexts();
        const forbidden = actions.filter((name) => /Drain|Invite|Add a worker|Set the price/.test(name));
        expect(forbidden, path).toEqual([]);
      }
      expect(refused).toEqual([]);
    }
  });

  it('with keys: those of a team by its owners, and personal ones by their person', async () => {
    const all = ['Change', 'Usage', 'Rotate', 'Revoke'];
    const { key: ofTeam } = await addTeam();
    const ofEves = await makeKey(eve, { kind: 'user', name: uniqueName('key of Eve') });
    const { page: ofEve } = await openPageAs(eve, '/keys');
    expect(await offered(ofEve, ofTeam.name)).toEqual(['Usage']);
    expect(await offered(ofEve, ofEves.name)).toEqual(all);
    const { page: ofBob } = await openPageAs(bob, '/keys');
    expect(await offered(ofBob, ofTeam.name)).toEqual(all);
    const { page: ofAda } = await openPageAs(here.ada, '/keys');
    // Whoever rotates a key can read what it has stored, and that is Eve's.
    expect(await offered(ofAda, ofEves.name)).toEqual(['Change', 'Usage', 'Revoke']);
  });

  it('with files, batches, members and webhooks of a team', async () => {
    const { id: team, name: teamName, key } = await addTeam();
    const { openai } = batchClients({ url: here.cluster.url, key: key.raw });
    const batch = await submit(openai, [chatLine('a', 'Hi.')]);

    for (const person of [eve, bob]) {
      const may = person === bob;
      const { page } = await openAs(person);
      const buttons = async (path: string, text: string): Promise<string[]> => {
        await page.goto(path);
        await page.locator('main').getByText(text).first().waitFor();
        await waitUntilLoaded(page);
        return page.locator('main').getByRole('table').locator('button, a').allInnerTexts();
      };
      const ofFiles = await buttons(`/files?of=team:${team}`, 'in.jsonl');
      expect(ofFiles).toEqual(may ? ['', 'Download', 'Delete'] : ['']);
      expect(await buttons(`/batches?of=team:${team}`, batch.id)).toEqual(may ? ['Details', 'Cancel'] : ['Details']);
      await buttons('/teams', teamName);
      expect(await page.getByRole('button', { name: `Change members of ${teamName}` }).count()).toBe(may ? 1 : 0);
      await page.goto('/webhooks');
      await page.getByRole('button', { name: 'New webhook' }).click();
      await page.getByRole('dialog').getByLabel('Address').waitFor();
      const owner = page.getByRole('dialog').getByRole('combobox', { name: 'Owner' });
      await until(async () => expect(await owner.count()).toBe(may ? 1 : 0));
    }
  });

  it('in the playground: the models that their ceiling permits', async () => {
    await here.ada.client.patch(`/users/${eve.id}`, { ceiling: { models: ['other'] } });
    const { page } = await openPageAs(eve, '/playground');
    const model = page.getByRole('combobox', { name: 'Model', exact: true });
    await model.click();
    await page.getByRole('option', { name: 'other' }).waitFor();
    await until(async () => expect(await page.getByRole('option').allInnerTexts()).toEqual(['auto', 'other']));
    await page.goto('/models');
    await page.getByRole('row', { name: /^demo not permitted to you/ }).waitFor();
    expect(await page.getByText('not permitted to you').count()).toBe(1);
    await expectNoViolation(page);
  });

  it('where only administrators make personal keys', async () => {
    await here.ada.client.patch('/settings', { membersMakeKeys: true });
    const { name: own } = await makeKey(eve, { kind: 'user', name: uniqueName('key of Eve') });
    await here.ada.client.patch('/settings', { membersMakeKeys: false });
    onTestFinished(async () => void (await here.ada.client.patch('/settings', { membersMakeKeys: true })));
    expect((await eve.client.post('/keys', { kind: 'user', name: 'another' })).status).toBe(403);
    const { page: ofEve } = await openPageAs(eve, '/keys');
    await ofEve.getByText(own).waitFor();
    expect(await ofEve.getByRole('button', { name: 'New key' }).count()).toBe(0);
    await chooseAction(ofEve, own, 'Rotate');
    const dialog = ofEve.getByRole('dialog');
    await dialog.getByText('Only administrators may create additional keys here.').waitFor();
    await until(async () => expect(await dialog.getByRole('combobox').inputValue()).toBe('expires now'));
    await expectNoViolation(ofEve);
    await dialog.getByRole('button', { name: 'Create new key' }).click();
    await dialog.getByRole('group', { name: 'the key' }).waitFor();
    const { page: ofBob } = await openPageAs(bob, '/keys');
    await ofBob.getByRole('button', { name: 'New key' }).click();
    await ofBob.getByRole('dialog').getByRole('combobox', { name: 'Team' }).waitFor();
    expect(await ofBob.getByRole('dialog').getByRole('combobox', { name: 'Owner' }).count()).toBe(0);
  });

  it("with lists of everybody's, which administrators narrow to their own", async () => {
    const own = await makeKey(here.ada, { kind: 'user', name: uniqueName('own') });
    const other = await makeKey(bob, { kind: 'user', name: uniqueName('other') });
    const { cluster } = here;
    for (const { raw } of [own, other]) expect((await askChat({ url: cluster.url, key: raw })).status).toBe(200);
    for (const path of ['/keys', '/requests', '/usage?by=key']) {
      const { page } = await openPageAs(here.ada, path);
      const [ofOwn, ofOther] = [own, other].map(({ name }) =>
        page.getByRole('row', { name: new RegExp(name) }).first(),
      );
      await ofOther?.waitFor();
      await page.getByRole('switch', { name: 'Only mine' }).click();
      await ofOther?.waitFor({ state: 'detached' });
      await ofOwn?.waitFor();
      expect(new URL(page.url()).searchParams.get('user')).toBe(here.ada.id);
      await expectNoViolation(page);
    }
    const { page: ofBob } = await openPageAs(bob, '/keys');
    await ofBob.getByText(other.name).waitFor();
    expect(await ofBob.getByRole('switch', { name: 'Only mine' }).count()).toBe(0);
  });
});
