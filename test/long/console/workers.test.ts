import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFailed, onTestFinished } from 'vitest';
import { createAuthority } from '#shared/broker/authority/authority.ts';
import { writeAuthority } from '#shared/broker/authority/authority-folder.ts';
import { ConsoleClient } from '../../helpers/console/console-client.ts';
import { phone, seriousViolations, wide, type LookOptions } from '../../helpers/console/console-page.ts';
import { expectAccessible } from '../../helpers/console/expect-accessible.ts';
import { inviteToConsole, joinConsole, openAs, openPageAs } from '../../helpers/console/open-as.ts';
import { longestTask } from '../../helpers/console/longest-task.ts';
import { least } from '../../helpers/least.ts';
import { chromiumPath, openBrowser } from '../../helpers/console/open-browser.ts';
import { startConsole, type ConsoleCluster } from '../../helpers/console/start-console.ts';
import { startProcess, type ServiceProcess } from '../../helpers/processes/start-process.ts';
import { uniqueName } from '../../helpers/unique-name.ts';
import { until } from '../../helpers/until.ts';
import { announceMany } from '../../helpers/broker/announce-many.ts';

const rtr = resolve(import.meta.dirname, '../../../services/rtr/main.ts');

/** Milliseconds that the page may keep the browser's main thread without a pause. */
const mostMs = 200;

async function expectFits(page: Page): Promise<void> {
  expect(await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth')).toBe(
    true,
  );
}

describe.skipIf(chromiumPath === undefined)('workers and models in the console', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rtr-test-workers-'));
  let cluster: ConsoleCluster;
  let browser: Browser;
  let admin: ConsoleClient;
  let member: ConsoleClient;
  let otherUrl: string;
  let joining: ChildProcess | undefined;
  let again: ServiceProcess | undefined;

  beforeAll(async () => {
    const prefix = `t${randomBytes(6).toString('hex')}`;
    mkdirSync(join(folder, 'authority'));
    await writeAuthority(join(folder, 'authority'), await createAuthority(prefix, undefined));
    [cluster, browser] = await Promise.all([
      startConsole({ prefix, ingress: { CREDENTIALS_DIR: join(folder, 'authority') } }),
      openBrowser(),
    ]);
    otherUrl = (await cluster.addIngress()).url;
    const ada = await joinConsole(new ConsoleClient(cluster.url), cluster.firstLink, 'Ada');
    admin = ada.client;
    ({ client: member } = await inviteToConsole(ada, 'Bob'));
  }, 120_000);

  afterAll(async () => {
    if (joining?.pid !== undefined) process.kill(-joining.pid, 'SIGKILL');
    await again?.stop();
    await browser?.close();
    await cluster?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const open = (client: ConsoleClient, path: string, look: LookOptions = wide, origin = cluster.url) =>
    openPageAs(browser, { client }, path, { look, origin });

  const goneRow = (page: Page, id: string) =>
    page.getByRole('table', { name: 'Workers that are gone' }).getByRole('row', { name: new RegExp(id) });
  const workerRow = (page: Page, id: string) =>
    page.getByRole('table', { name: 'Workers', exact: true }).getByRole('row', { name: new RegExp(id) });

  async function addWorker() {
    const service = await cluster.addWorker();
    return { service, id: String((await service.line('gpu-worker is ready'))['worker']) };
  }

  async function ask(words: string, model = 'demo'): Promise<Response> {
    return fetch(`${cluster.url}/api/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${cluster.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: `Hi!\n[demo ${words}]` }] }),
    });
  }

  it('are said not to be gone while none is', async () => {
    const { page, context } = await open(admin, '/workers');
    await page.getByText('No worker has left or was lost').waitFor();
    expect(await page.getByRole('table', { name: 'Workers that are gone' }).count()).toBe(0);
    await context.close();
  });

  it('stay visible when they are gone, with when and why, after a reload and on every ingress', async () => {
    const { page, context, troubles } = await open(admin, '/workers');
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
    await again?.stop();
    again = startProcess('services/gpu-worker/main.ts', {
      NATS_URL: inject('natsUrl'),
      RTR_PREFIX: cluster.prefix,
      WORKER_ID: killed.id,
      ENGINE_URL: cluster.engineUrl,
      ADMIN_PORT: '0',
    });
    await goneRow(page, killed.id).getByText('Back', { exact: true }).waitFor();
    await expectAccessible(page);
    await context.close();

    const other = await open(member, '/workers', phone, otherUrl);
    const list = other.page.getByRole('list', { name: 'Workers that are gone' });
    await list.getByText('Lost', { exact: true }).first().waitFor();
    await list.getByText('Left after a drain').first().waitFor();
    await expectFits(other.page);
    await expectAccessible(other.page);
    await other.context.close();
    expect([...troubles, ...other.troubles]).toEqual([]);
  });

  it('warn before a model’s last one is drained, and say when a drained one is safe to stop', async () => {
    const { page, context, troubles } = await open(admin, '/workers');
    const drains = page.getByRole('button', { name: /^Drain / });
    await drains.nth(1).waitFor();
    const [last, other] = (await drains.evaluateAll((all) => all.map((each) => each.getAttribute('aria-label')))).map(
      (label) => label?.replace('Drain ', '') ?? '',
    ) as [string, string];
    onTestFailed(async () => {
      for (const id of [last, other]) await admin.post(`/workers/${id}/undrain`);
    });
    // Another one serves the model as well.
    await page.getByRole('button', { name: `Drain ${other}` }).click();
    await workerRow(page, other).getByText('Drained, safe to stop').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    await workerRow(page, last).getByText('the last for a model').waitFor();
    const tools = await cluster.addToolsWorker();
    onTestFinished(async () => void (await tools.stop()));
    const toolsId = String((await tools.line('tools-worker is ready'))['worker']);
    await workerRow(page, toolsId)
      .getByText(/the last for \d+ tools/)
      .waitFor();
    const drain = page.getByRole('button', { name: `Drain ${last}` });
    await drain.click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('No other worker takes requests for demo.').waitFor();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await drain.click();
    await dialog.getByText('No other worker takes requests for demo.').waitFor();
    const answer = await ask('tokens=120 rate=20');
    await dialog.getByRole('button', { name: 'Drain', exact: true }).click();
    await workerRow(page, last).getByText('1 request left').waitFor();
    expect(await workerRow(page, last).getByText('safe to stop').count()).toBe(0);
    expect(await answer.text()).toContain('[DONE]');
    await workerRow(page, last).getByText('Drained, safe to stop').waitFor();
    await expectAccessible(page);
    for (const id of [last, other]) await page.getByRole('button', { name: `Undrain ${id}` }).click();
    await page.getByRole('button', { name: `Drain ${last}` }).waitFor();
    expect(troubles).toEqual([]);
    await context.close();
  });

  it('join with the one command of the dialog, which turns green, and says after a minute what to check', async () => {
    const name = uniqueName('joes-box');
    const { page, context, troubles } = await openAs(browser, { client: admin });
    await page.clock.install();
    await page.goto('/workers');
    await page.getByRole('button', { name: 'Add a worker' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(name);
    await dialog.getByLabel('Address of the engine').fill(cluster.engineUrl);
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('Waiting for the worker.').waitFor();
    const address = dialog.getByLabel('Address of NATS');
    const given = await address.inputValue();
    await address.fill('nats://localhost:4222');
    await dialog.getByText('This is an address of the router’s own machine.').waitFor();
    await address.fill(given);
    expect(await dialog.getByText('No worker has joined for a minute').count()).toBe(0);
    await page.clock.fastForward(61_000);
    await dialog.getByText('No worker has joined for a minute').waitFor();
    expect(await dialog.getByRole('group', { name: 'the check' }).innerText()).toMatch(
      new RegExp(`^npx rtr doctor --nats \\S+ --credentials ${name}\\.creds --role gpu$`),
    );
    await expectAccessible(page);
    const command = await dialog.getByRole('group', { name: 'the whole command' }).innerText();
    await dialog.getByRole('button', { name: 'Copy the whole command' }).waitFor();
    await page.setViewportSize({ width: phone.width, height: phone.height });
    await expectFits(page);
    expect(await seriousViolations(page)).toEqual([]);
    await page.setViewportSize({ width: wide.width, height: wide.height });

    const box = join(folder, name);
    mkdirSync(box);
    writeFileSync(join(box, 'npx'), `#!/bin/sh\nshift\nexec '${process.execPath}' '${rtr}' "$@"\n`, { mode: 0o755 });
    joining = spawn('sh', ['-c', command], {
      cwd: box,
      detached: true,
      stdio: 'ignore',
      env: { ...process.env, PATH: `${box}:${process.env['PATH'] ?? ''}`, WORKER_ID: 'gpu0', ADMIN_PORT: '0' },
    });
    onTestFailed(() => {
      if (joining?.pid !== undefined) process.kill(-joining.pid, 'SIGKILL');
      joining = undefined;
    });
    // The command starts two processes, one after the other.
    await dialog.getByText(`${name}.gpu0 has joined`).waitFor({ timeout: 60_000 });
    await dialog.getByText('It serves demo').waitFor();
    await until(async () => expect(await dialog.getByText('Waiting for the worker.').count()).toBe(0));
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await workerRow(page, `${name}.gpu0`).waitFor();
    const ended = once(joining, 'exit');
    if (joining.pid !== undefined) process.kill(-joining.pid, 'SIGTERM');
    await ended;
    joining = undefined;
    await goneRow(page, `${name}.gpu0`).waitFor();
    expect(troubles).toEqual([]);
    await context.close();
  });

  it('serve models that are found by what they can, with price, speed, and a way to try them', async () => {
    const settings = { PROVIDER: 'custom', PROVIDER_URL: `${cluster.engineUrl}/v1`, PROVIDER_KEY: 'any' };
    const cloud = await cluster.addCloudWorker({ ...settings, PROVIDER_MODELS: 'dear', ADMIN_PORT: '0' });
    onTestFinished(async () => {
      await admin.delete('/prices/dear');
      await cloud.stop();
    });
    for (const words of ['tokens=20 rate=100', 'tokens=20 rate=100']) await (await ask(words)).text();
    const { page, context, troubles } = await open(admin, '/models');
    const row = (id: string) =>
      page
        .getByRole('table', { name: 'Models' })
        .getByRole('row')
        .filter({ has: page.getByLabel(`Try it: ${id}`) });
    await row('dear').getByText('unpriced').waitFor();
    await row('demo').getByText('none: own hardware').waitFor();
    await row('demo')
      .getByText(/tokens\/s, first after \d/)
      .waitFor();
    await page.getByText('No cost is counted for dear').waitFor();
    expect(await page.getByRole('link', { name: 'Set prices' }).getAttribute('href')).toBe('/admin/prices');
    await expectAccessible(page);
    expect((await admin.ask('PUT', '/prices/dear', { input: 1.5, output: 6 })).status).toBe(200);
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
    await context.close();
    const small = await open(member, '/models', phone);
    await small.page.getByRole('list', { name: 'Models' }).getByText('$1.50 in, $6.00 out', { exact: true }).waitFor();
    await expectFits(small.page);
    await expectAccessible(small.page);
    await small.context.close();
    expect([...troubles, ...small.troubles]).toEqual([]);
  });

  it('are 2,000 and the page stays quick: each update and each search takes the browser less than 200 ms', async () => {
    const many = await announceMany({ natsUrl: inject('natsUrl'), prefix: cluster.prefix, count: 2_000 });
    try {
      const { page, context, troubles } = await open(admin, '/workers');
      await page
        .getByText(/of 2,00\d workers/)
        .first()
        .waitFor();
      expect(await page.getByRole('row').count()).toBeLessThan(150);
      const updates = await least(() => longestTask(browser, page, () => page.waitForTimeout(5_000)), mostMs);
      const searching = await least(async () => {
        await page.getByLabel('Search').fill('');
        return longestTask(browser, page, async () => {
          await page.getByLabel('Search').pressSequentially('many-1999');
          await workerRow(page, 'many-1999').waitFor();
        });
      }, mostMs);
      process.stdout.write(
        `longest tasks: ${updates.toFixed(0)} ms of an update, ${searching.toFixed(0)} ms of a search\n`,
      );
      const rows = page.getByRole('table', { name: 'Workers', exact: true }).getByRole('row');
      await until(async () => expect(await rows.count()).toBe(2));
      expect(updates).toBeLessThan(mostMs);
      expect(searching).toBeLessThan(mostMs);
      await page.getByLabel('Search').fill('');
      const pages = page.getByRole('navigation', { name: 'Pages of Workers', exact: true });
      await pages.getByRole('button', { name: 'Next' }).click();
      await page.getByText(/^51–100 of 2,00\d$/).waitFor();
      await page.getByRole('combobox', { name: 'State' }).click();
      await page.getByRole('option', { name: 'Full' }).click();
      await page.getByText(/^200 of 2,00\d workers$/).waitFor();
      await expectAccessible(page);
      await page.goto('/models');
      await page.getByText(/^1–50 of 10\d$/).waitFor();
      expect(troubles).toEqual([]);
      await context.close();
    } finally {
      await many.close();
    }
  }, 240_000);
});
