// @module-tag chromium
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createUser } from '@nats-io/jwt';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createAuthority } from '#shared/broker/authority/authority.ts';
import { writeAuthority } from '#shared/broker/authority/authority-folder.ts';
import { formatCredential } from '#shared/broker/connection/credential.ts';
import { announceMany } from '../../helpers/broker/announce-many.ts';
import { chat, post } from '../../helpers/clients/keyed-requests.ts';
import { customProvider } from '../../helpers/cluster/worker-settings.ts';
import { askChat } from '../../helpers/console/ask-chat.ts';
import { phone, waitUntilLoaded, wide } from '../../helpers/console/console-page.ts';
import { choose } from '../../helpers/console/page-actions.ts';
import { expectAccessible, expectFits, expectGood, expectNoViolation } from '../../helpers/console/page-checks.ts';
import { ownConsole } from '../../helpers/console/console-with-ada.ts';
import { longestTask } from '../../helpers/console/longest-task.ts';
import { openAs, openPageAs, type KnownPerson, type TabOptions } from '../../helpers/console/open-as.ts';
import { useFolder } from '../../helpers/files/temporary-folder.ts';
import { folderCommand } from '#services/console/web/pages/workers/folder-command.ts';
import { least } from '../../helpers/least.ts';
import { version } from '#shared/core/version.ts';
import { startProcess, type ServiceProcess } from '../../helpers/processes/start-process.ts';
import { uniqueName } from '../../helpers/unique-name.ts';
import { stopAfterTest } from '../../helpers/stop-after-test.ts';
import { until } from '../../helpers/until.ts';

/** Milliseconds that the page may keep the browser's main thread without a pause. */
const maxMs = 200;

describe('workers and models in the console', () => {
  const folder = useFolder();
  const here = ownConsole();
  /** An ingress that makes credentials. */
  let origin: string;
  let bob: KnownPerson;
  /** A worker that was lost and has come back. */
  let again: ServiceProcess | undefined;

  beforeAll(async () => {
    const authority = join(folder, 'authority');
    mkdirSync(authority);
    await writeAuthority(authority, await createAuthority(here.cluster.prefix, undefined));
    ({ url: origin } = await here.cluster.addIngress({ CREDENTIALS_DIR: authority }));
    bob = await here.invite('Bob');
  });
  afterAll(() => again?.stop());

  const open = async (path: string, person = here.ada, options: TabOptions = {}): Promise<Page> =>
    (await openPageAs(person, path, options)).page;

  const goneRow = (page: Page, id: string) =>
    page.getByRole('table', { name: 'Workers that are gone' }).getByRole('row', { name: new RegExp(id) });
  const workerRow = (page: Page, id: string) =>
    page.getByRole('table', { name: 'Workers', exact: true }).getByRole('row', { name: new RegExp(id) });

  async function addWorker() {
    const service = await here.cluster.addWorker();
    return { service, id: String((await service.line('gpu-worker is ready'))['worker']) };
  }

  const ask = (words: string): Promise<Response> => post({ ...here.cluster, body: chat(words, { stream: true }) });

  it('are said not to be gone while none is', async () => {
    const page = await open('/workers');
    await page.getByText('No worker has left or was lost').waitFor();
    expect(await page.getByRole('table', { name: 'Workers that are gone' }).count()).toBe(0);
  });

  it('stay visible when they are gone, with when and why, after a reload and on every ingress', async () => {
    const page = await open('/workers');
    const [stopped, killed] = [await addWorker(), await addWorker()];
    await workerRow(page, killed.id).waitFor();
    await Promise.all([stopped.service.stop(), killed.service.kill()]);
    for (const reach of ['at once', 'after a reload']) {
      if (reach === 'after a reload') await page.reload();
      await goneRow(page, stopped.id).getByText('Left after a drain').waitFor();
      await goneRow(page, killed.id).getByText('No heartbeat came for 3.3 s.').waitFor();
      await goneRow(page, killed.id).getByText('just now').first().waitFor();
    }
    await until(async () => expect(await workerRow(page, killed.id).count()).toBe(0));
    again = startProcess('services/gpu-worker/main.ts', {
      NATS_URL: inject('natsUrl'),
      RTR_PREFIX: here.cluster.prefix,
      WORKER_ID: killed.id,
      ENGINE_URL: here.cluster.engineUrl,
      ADMIN_PORT: '0',
    });
    await goneRow(page, killed.id).getByText('Back', { exact: true }).waitFor();
    await expectAccessible(page);

    const other = await open('/workers', bob, { look: phone, origin });
    const list = other.getByRole('list', { name: 'Workers that are gone' });
    await list.getByText('Lost', { exact: true }).first().waitFor();
    await list.getByText('Left after a drain').first().waitFor();
    await expectFits(other);
    await expectAccessible(other);
  });

  it('warn before a model’s last one is drained, and say when a drained one is safe to stop', async () => {
    const page = await open('/workers');
    const drains = page.getByRole('button', { name: /^Drain / });
    await drains.nth(1).waitFor();
    const labels = await Promise.all((await drains.all()).map((button) => button.getAttribute('aria-label')));
    const [last = '', other = ''] = labels.map((label) => label?.replace('Drain ', ''));
    // Another one serves the model as well.
    await page.getByRole('button', { name: `Drain ${other}` }).click();
    await workerRow(page, other).getByText('Drained, safe to stop').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    for (let count = 0; count < 8; count += 1)
      expect((await askChat(here.cluster)).headers.get('x-rtr-worker')).not.toBe(other);
    await workerRow(page, last).getByText('the last for a model').waitFor();
    const tools = stopAfterTest(await here.cluster.addToolsWorker());
    const toolsId = String((await tools.line('tools-worker is ready'))['worker']);
    const isLast = workerRow(page, toolsId).getByText(/the last for \d+ tools/);
    await isLast.waitFor();
    const drain = page.getByRole('button', { name: `Drain ${last}` });
    await drain.click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('No other worker takes requests for demo.').waitFor();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await drain.click();
    await dialog.getByText('No other worker takes requests for demo.').waitFor();
    const answer = await ask('tokens=240 rate=20');
    await dialog.getByRole('button', { name: 'Drain', exact: true }).click();
    await workerRow(page, last).getByText('1 request left').waitFor();
    expect(await workerRow(page, last).getByText('safe to stop').count()).toBe(0);
    expect(await answer.text()).toContain('[DONE]');
    await workerRow(page, last).getByText('Drained, safe to stop').waitFor();
    await expectAccessible(page);
    for (const id of [last, other]) await page.getByRole('button', { name: `Undrain ${id}` }).click();
    await page.getByRole('button', { name: `Drain ${last}` }).waitFor();
    await page.goto('/admin/audit');
    await page.getByText('worker.drain').first().waitFor();
  });

  it('join with the one line of the dialog, which turns green, and says after a minute what to check', async () => {
    const name = uniqueName('joes-box');
    const { page } = await openAs(here.ada, { origin });
    await page.clock.install();
    await page.goto('/workers');
    await page.getByRole('button', { name: 'Add a worker' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(name);
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('Waiting for the machine.').waitFor();
    await dialog.getByText('Only this machine reaches').waitFor();
    expect(await dialog.getByText('No worker has joined for a minute').count()).toBe(0);
    await page.clock.fastForward(61_000);
    await dialog.getByText('No worker has joined for a minute').waitFor();
    await dialog.getByText('Does the machine reach the address in the line?').waitFor();
    await expectAccessible(page);
    const line = await dialog.getByRole('group', { name: 'the line' }).innerText();
    await dialog.getByRole('button', { name: 'Copy the line' }).waitFor();
    await page.setViewportSize(phone);
    await expectGood(page);
    await page.setViewportSize(wide);

    const [, address = '', secret = ''] = / join (\S+)#([\w-]{43})$/.exec(line) ?? [];
    expect(line).toBe(`npx --yes ${address}/rtr-${version}.tgz join ${address}#${secret}`);
    const user = createUser();
    const answer = await fetch(`${address}/api/join`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ v: 1, token: secret, key: user.getPublicKey(), host: 'any' }),
    });
    const joined = (await answer.json()) as { name: string; credentials: { gpu: string } };
    expect(joined.name).toBe(name);
    await dialog.getByText(`${name} has joined. Waiting for its workers.`).waitFor();
    await dialog.getByText('Does an engine run there').waitFor();
    const file = join(folder, `${name}.creds`);
    writeFileSync(file, formatCredential(joined.credentials.gpu, user, undefined), { mode: 0o600 });
    const worker = stopAfterTest(
      startProcess('services/gpu-worker/main.ts', {
        NATS_URL: inject('natsUrl'),
        RTR_PREFIX: here.cluster.prefix,
        NATS_CREDENTIALS: file,
        ENGINE_URL: here.cluster.engineUrl,
        WORKER_ID: 'gpu0',
        ADMIN_PORT: '0',
      }),
    );
    await dialog.getByText(`${name}.gpu0 has joined`).waitFor();
    await dialog.getByText('It serves demo').waitFor();
    await until(async () => expect(await dialog.getByText('Waiting for its workers').count()).toBe(0));
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await workerRow(page, `${name}.gpu0`).waitFor();
    await page.getByRole('table', { name: 'Credentials' }).getByText(name).waitFor();
    await worker.stop();
    await goneRow(page, `${name}.gpu0`).waitFor();
  });

  it('are said to join with a command of the folder where the ingress itself has no credential', async () => {
    const page = await open('/workers');
    await page.getByText(folderCommand).waitFor();
    expect(await page.getByText('rtr credentials worker').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Add a worker' }).count()).toBe(0);
    await expectNoViolation(page);
  });

  it('are invited with a line, which can be withdrawn, and their credentials are listed and revoked', async () => {
    const name = uniqueName('joes-box');
    const page = await open('/workers', here.ada, { origin });
    await page.getByRole('button', { name: 'Add a worker' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('joe.box');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('A name has up to 64 letters').waitFor();
    await dialog.getByLabel('Name').fill(name);
    await dialog.getByRole('combobox', { name: 'What the machine may serve' }).press('ArrowDown');
    await page.getByRole('option', { name: 'CLI' }).click();
    await page.keyboard.press('Tab');
    await choose(dialog, 'The line can be used for', 'a day');
    await expectNoViolation(page);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByRole('group', { name: 'the line' }).waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    const invited = page.getByRole('table', { name: 'Invited machines' }).getByRole('row', { name: new RegExp(name) });
    await invited.getByText('GPU, CLI').waitFor();
    await expectNoViolation(page);
    await invited.getByRole('button', { name: `Withdraw the invitation of ${name}` }).click();
    await dialog.getByRole('button', { name: 'Withdraw' }).click();
    await until(async () => expect(await invited.count()).toBe(0));

    const client = here.ada.client.at(origin);
    expect((await client.post('/worker-credentials', { name, tier: 'gpu' })).status).toBe(201);
    await page.reload();
    const row = page.getByRole('row', { name: new RegExp(name) });
    await row.getByText('Valid').waitFor();
    await until(async () => expect(await page.getByText('BEGIN').count()).toBe(0));
    await row.getByRole('button', { name: `Revoke ${name}` }).click();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('status').getByText('nats-server --signal reload').waitFor();
    await row.getByText('Revoked').waitFor();
    await expectNoViolation(page);
    await until(async () => expect(await row.getByRole('button').count()).toBe(0));
    await page.goto('/admin/audit');
    await page.getByText('credential.revoke').first().waitFor();

    await page.setViewportSize(phone);
    await page.goto('/workers');
    await waitUntilLoaded(page);
    await page.getByRole('list', { name: 'Credentials' }).getByText(name).waitFor();
    await expectNoViolation(page);
  });

  it('serve models that are found by what they can, with price, speed, and a way to try them', async () => {
    const settings = { ...customProvider(here.cluster.engineUrl, 'chat'), PROVIDER_MODELS: 'dear', ADMIN_PORT: '0' };
    stopAfterTest(await here.cluster.addCloudWorker(settings));
    for (const answer of await Promise.all([ask('tokens=20 rate=20'), ask('tokens=20 rate=20')])) await answer.text();
    const page = await open('/models');
    const rows = page.getByRole('table', { name: 'Models' }).getByRole('row');
    const row = (id: string) => rows.filter({ has: page.getByLabel(`Try it: ${id}`) });
    await row('dear').getByText('unpriced').waitFor();
    await row('demo').getByText('none: own hardware').waitFor();
    const speed = row('demo').getByText(/tokens\/s, first after \d/);
    await speed.waitFor();
    await page.getByText('No cost is counted for dear').waitFor();
    expect(await page.getByRole('link', { name: 'Set prices' }).getAttribute('href')).toBe('/admin/prices');
    await expectAccessible(page);
    expect((await here.ada.client.put('/prices/dear', { input: 1.5, output: 6 })).status).toBe(200);
    await page.reload();
    await row('dear').getByText('$1.50 in, $6.00 out').waitFor();
    await until(async () => expect(await page.getByText('No cost is counted').count()).toBe(0));
    await page.getByLabel('Search').fill('cloud');
    await row('dear').waitFor();
    await until(async () => expect(await row('demo').count()).toBe(0));
    await page.getByLabel('Search').fill('');
    await page.getByRole('group', { name: 'Capabilities that are needed' }).getByText('vision').click();
    await row('demo').waitFor();
    await page.getByLabel('Try it: demo').click();
    await page.getByRole('heading', { level: 1, name: 'Playground' }).waitFor();
    await until(async () => expect(await page.getByLabel('Model', { exact: true }).first().inputValue()).toBe('demo'));
    const small = await open('/models', bob, { look: phone });
    await small.getByRole('list', { name: 'Models' }).getByText('$1.50 in, $6.00 out', { exact: true }).waitFor();
    await expectFits(small);
    await expectAccessible(small);
  });

  it('are 2,000 and the page stays quick: each update and each search takes the browser less than 200 ms', async () => {
    const many = await announceMany({ natsUrl: inject('natsUrl'), prefix: here.cluster.prefix, count: 2_000 });
    try {
      const page = await open('/workers');
      const count = page.getByText(/of 2,00\d workers/);
      await count.first().waitFor();
      expect(await page.getByRole('row').count()).toBeLessThan(150);
      const updates = await least(() => longestTask(page, () => page.waitForTimeout(5_000)), maxMs);
      const searching = await least(async () => {
        await page.getByLabel('Search').fill('');
        return longestTask(page, async () => {
          await page.getByLabel('Search').pressSequentially('many-1999');
          await workerRow(page, 'many-1999').waitFor();
        });
      }, maxMs);
      const rows = page.getByRole('table', { name: 'Workers', exact: true }).getByRole('row');
      await until(async () => expect(await rows.count()).toBe(2));
      expect(updates).toBeLessThan(maxMs);
      expect(searching).toBeLessThan(maxMs);
      await page.getByLabel('Search').fill('');
      const pages = page.getByRole('navigation', { name: 'Pages of Workers', exact: true });
      await pages.getByRole('button', { name: 'Next' }).click();
      await page.getByText(/^51–100 of 2,00\d$/).waitFor();
      await choose(page, 'State', 'Full');
      await page.getByText(/^200 of 2,00\d workers$/).waitFor();
      await expectAccessible(page);
      await page.goto('/models');
      await page.getByText(/^1–50 of 10\d$/).waitFor();
    } finally {
      await many.close();
    }
  }, 240_000);
});
