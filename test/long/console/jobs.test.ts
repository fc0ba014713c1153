import { readFileSync } from 'node:fs';
import OpenAI from 'openai';
import type { Locator, Page } from 'playwright-core';
import { afterEach, beforeAll, beforeEach, describe, expect, inject, it, onTestFailed, onTestFinished } from 'vitest';
import { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import { Batches } from '#shared/accounts/batches/batches.ts';
import { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { BackgroundWorker } from '#shared/background/background-worker.ts';
import { endingJob } from '#shared/background/batch-jobs.ts';
import { createLog } from '#shared/core/log.ts';
import { openKeyStore } from '../../helpers/accounts/open-key-store.ts';
import {
  openConsolePage,
  phone,
  seriousViolations,
  wide,
  type WatchedPage,
} from '../../helpers/console/console-page.ts';
import { consoleWithAda } from '../../helpers/console/console-with-ada.ts';
import { goodPassword } from '../../helpers/console/good-password.ts';
import { inviteToConsole, openAs } from '../../helpers/console/open-as.ts';
import { chromiumPath } from '../../helpers/console/open-browser.ts';
import type { ConsoleCluster } from '../../helpers/console/start-console.ts';
import { uniqueName } from '../../helpers/unique-name.ts';
import { until } from '../../helpers/until.ts';
import { openTestWebhooks } from '../../helpers/webhooks/open-test-webhooks.ts';
import { startReceiver } from '../../helpers/webhooks/start-receiver.ts';

/** A picture of one pixel. */
const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe.skipIf(chromiumPath === undefined)('the console', () => {
  const here = consoleWithAda({ engine: { DEMO_TOKENS_PER_SECOND: '0' } });
  let watched: WatchedPage;
  let page: Page;

  beforeAll(async () => {
    await here.cluster.addToolsWorker();
  });

  beforeEach(async () => {
    watched = await openAs(here.browser, here.ada);
    ({ page } = watched);
  });

  /** Goes on as somebody who has nothing yet; returns their name, from which their address is made. */
  async function becomeSomebodyNew(): Promise<string> {
    const name = uniqueName('Joe');
    const person = await inviteToConsole(here.ada, name);
    await watched.context.close();
    watched = await openAs(here.browser, person);
    ({ page } = watched);
    return name;
  }

  afterEach(async () => {
    expect(watched.troubles).toEqual([]);
    await watched.context.close();
  });

  describe('batches', () => {
    const line = (id: string, text: string, model = 'demo'): string =>
      JSON.stringify({
        custom_id: id,
        method: 'POST',
        url: '/v1/chat/completions',
        body: { model, messages: [{ role: 'user', content: text }] },
      });
    const fileOf = (...lines: string[]) => ({
      name: 'requests.jsonl',
      mimeType: 'application/jsonl',
      buffer: Buffer.from(lines.join('\n')),
    });

    it('are created from a file, watched, cancelled, and their answers and errors downloaded', async () => {
      const runner = await here.cluster.addBatchRunner();
      onTestFinished(async () => void (await runner.stop()));
      await becomeSomebodyNew();
      await page.goto('/batches');
      await page.getByText('No batches yet').waitFor();
      await page.getByRole('button', { name: 'New batch' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.locator('input[type=file]').setInputFiles(fileOf('[]'));
      await dialog.getByRole('button', { name: 'Create batch' }).click();
      await dialog.getByText('The first line of the file is no request of a batch.').waitFor();
      const file = fileOf(line('a', 'Say A.'), line('b', 'Say B.'), '', line('c', 'Hi.', 'nobody'));
      await dialog.locator('input[type=file]').setInputFiles(file);
      const window = dialog.getByRole('textbox', { name: 'Hours until what is not done expires' });
      await until(async () => expect(await window.inputValue()).toBe('24'));
      await window.fill('100');
      const creation = page.waitForResponse(
        (response) => response.request().method() === 'POST' && response.url().endsWith('/batches'),
      );
      await dialog.getByRole('button', { name: 'Create batch' }).click();
      expect(await (await creation).json()).toMatchObject({ completion_window: '100h' });
      const row = page.getByRole('row', { name: /batch_/ });
      await row.getByText('Complete').waitFor();
      await row.getByText('3 of 3, 1 failed').waitFor();
      expect(await seriousViolations(page)).toEqual([]);
      await page.setViewportSize(phone);
      await page.getByRole('list', { name: 'Batches' }).getByText('3 of 3, 1 failed').waitFor();
      const width = (): Promise<unknown> => page.evaluate('document.documentElement.scrollWidth');
      await until(async () => expect(await width()).toBe(phone.width));
      expect(await seriousViolations(page)).toEqual([]);
      await page.setViewportSize(wide);
      await row.getByRole('button', { name: /^Details of/ }).focus();
      await page.keyboard.press('Enter');
      const errors = dialog.getByRole('region', { name: 'First errors' });
      await errors.getByText('model_not_found: No model of this name is served.').waitFor();
      await errors.getByRole('row', { name: /^4 / }).waitFor();
      expect(await seriousViolations(page)).toEqual([]);
      expect(await downloaded(() => dialog.getByRole('link', { name: 'Download the answers' }).click())).toMatch(
        /"custom_id":"a"/,
      );
      expect(await downloaded(() => dialog.getByRole('link', { name: 'Download the errors' }).click())).toMatch(
        /^\{[^\n]*"custom_id":"c"[^\n]*\n$/,
      );
      await page.keyboard.press('Escape');
      const focused = (): Promise<unknown> => page.evaluate('document.activeElement.getAttribute("aria-label")');
      await until(async () => expect(await focused()).toMatch(/^Details of batch_/), 10_000);

      await page.getByRole('button', { name: 'New batch' }).click();
      await dialog.locator('input[type=file]').setInputFiles(fileOf(line('slow', 'Hi.\n[demo delay=60000]')));
      await dialog.getByRole('button', { name: 'Create batch' }).click();
      const running = page.getByRole('row', { name: /Running|Checking/ });
      await running.getByRole('button', { name: /^Cancel/ }).click();
      await dialog.getByRole('button', { name: 'Cancel batch' }).click();
      await page.getByText('Cancelled', { exact: true }).waitFor();
      await page.getByText('0 of 1, 1 cancelled').waitFor();
    });

    it('that nobody works on wait in a queue, which administrators see', async () => {
      // Nothing may wait when the test is run again.
      onTestFailed(async () => {
        const runner = await here.cluster.addBatchRunner();
        const states = async () =>
          (await here.ada.client.get(`/batches?owner=user:${here.ada.id}`)).body.batches.map(
            ({ state }: { state: string }) => state,
          );
        await until(async () => (await states()).every((state: string) => /ended|failed/.test(state)), 30_000);
        await runner.stop();
      }, 60_000);
      await page.goto('/batches');
      await page.getByRole('button', { name: 'New batch' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.locator('input[type=file]').setInputFiles(fileOf(line('a', 'Say A.')));
      await dialog.getByRole('button', { name: 'Create batch' }).click();
      await page.getByText('its input is being checked').waitFor();
      await page.goto('/admin/background');
      const queue = page.getByRole('row', { name: /^Inputs of batches are checked/ });
      await queue.getByText('1', { exact: true }).waitFor();
      await page.getByText('No job fails').waitFor();
      await page.getByText('Every event has arrived').waitFor();
      await page.getByRole('link', { name: 'Show all batches that are not over' }).click();
      await page.getByRole('row', { name: /Ada.*Checking/ }).waitFor();
      expect(await seriousViolations(page)).toEqual([]);
      const of = page.getByRole('combobox', { name: 'Owner' });
      await until(async () => expect(await of.inputValue()).toBe('Everybody: all that are not over'));
      await of.click();
      await page.getByRole('option', { name: 'Your own' }).click();
      await page.getByRole('row', { name: /Checking/ }).waitFor();
      await until(() => expect(new URL(page.url()).search).toBe(''));
    });

    it('are shown to the first one, however many there are', async () => {
      const { id: owner } = await here.cluster.addKey({});
      const { connection } = await openKeyStore(inject('redisUrl'));
      const report = (): void => undefined;
      const bounds = { mostOpen: 1_000, keepMs: 3_600_000 };
      const batches = new Batches(connection.redis, `${here.cluster.prefix}:`, { bounds, report });
      const work = new BatchWork(connection.redis, `${here.cluster.prefix}:`, { report });
      const what = { owner, key: owner, api: 'openai', path: '/chat/completions', window: '24h', inputFile: 'none' };
      for (let at = 0; at < 553; at += 1) {
        const [id, createdAt] = [`batch_${owner}_${at}`, Date.now() - 1_000 + at];
        await batches.create({ id, ...what, createdAt, expiresAt: createdAt + 3_600_000, total: 0 });
        await work.move(id, { from: 'validating', to: 'failed', timed: 'failedAt' });
      }
      await page.goto(`/batches?of=key:${owner}`);
      const rows = page.getByRole('row', { name: new RegExp(`batch_${owner}_`) });
      for (let shown = 50; shown < 553; shown += 50) {
        await until(async () => expect(await rows.count()).toBe(shown), 10_000);
        await page.getByRole('button', { name: 'Show earlier batches' }).click();
      }
      await until(async () => expect(await rows.count()).toBe(553), 10_000);
      await page.getByRole('row', { name: new RegExp(`batch_${owner}_0 `) }).waitFor();
      const more = page.getByRole('button', { name: 'Show earlier batches' });
      await until(async () => expect(await more.count()).toBe(0));
    });

    it('fail in the background with a reason, and are tried again at once', async () => {
      const log = createLog({ service: 'test', level: 'silent', format: 'json' });
      const access = { url: inject('redisUrl'), prefix: `${here.cluster.prefix}:`, log };
      let isBroken = true;
      const handle = (): Promise<void> =>
        isBroken ? Promise.reject(new Error('The storage for files is away.')) : Promise.resolve();
      const worker = new BackgroundWorker({ access, queue: 'batch-endings', concurrency: 1, handle });
      onTestFinished(() => worker.close());
      const jobs = new BackgroundJobs(access);
      onTestFinished(() => jobs.close());
      const id = uniqueName('batch_1');
      await jobs.add(endingJob(id));
      // No job may fail when the test is run again.
      onTestFailed(async () => {
        isBroken = false;
        const rest = new BackgroundWorker({ access, queue: 'batch-endings', concurrency: 1, handle });
        await here.ada.client.post('/background/repeat', { queue: 'batch-endings', id });
        await until(() => rest.completed === 1);
        await rest.close();
      });
      // A later attempt waits for long enough to be looked at.
      await until(() => worker.failed >= 4, 30_000);
      await page.goto('/admin/background');
      await page
        .getByRole('row', { name: new RegExp(`^${id} batch-endings 4 .* The storage for files is away\\. `) })
        .waitFor();
      expect(await seriousViolations(page)).toEqual([]);
      isBroken = false;
      await page.getByRole('button', { name: `Repeat now: ${id}` }).click();
      await page.getByText('No job fails').waitFor();
      await until(() => expect(worker.completed).toBe(1));
    });

    it('have files, which are uploaded, downloaded and deleted, within a quota', async () => {
      await becomeSomebodyNew();
      await page.goto('/files');
      await page.getByRole('button', { name: 'Upload a file' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.locator('input[type=file]').setInputFiles({ ...fileOf('{}', '{}'), name: 'mine.jsonl' });
      await dialog.getByRole('button', { name: 'Upload', exact: true }).click();
      const row = page.getByRole('row', { name: /^mine\.jsonl/ });
      await row.getByText('5 bytes').waitFor();
      await page.getByText(/ of 4 GiB, /).waitFor();
      expect(await downloaded(() => row.getByRole('link', { name: 'Download mine.jsonl' }).click())).toBe('{}\n{}');
      await row.getByRole('button', { name: 'Delete mine.jsonl' }).click();
      await dialog.getByRole('button', { name: 'Delete file' }).click();
      await until(async () => expect(await row.count()).toBe(0), 10_000);
    });

    async function downloaded(click: () => Promise<void>): Promise<string> {
      const [download] = await Promise.all([page.waitForEvent('download'), click()]);
      return readFileSync(await download.path(), 'utf8');
    }
  });

  describe('webhooks', () => {
    it('are made, tried, repeated, disabled and removed', async () => {
      const receiver = await startReceiver();
      const { deliverDue } = await openTestWebhooks({ prefix: `${here.cluster.prefix}:` });
      // There are none yet when the test is run again.
      onTestFailed(async () => {
        for (const { id } of (await here.ada.client.get('/webhooks')).body)
          await here.ada.client.delete(`/webhooks/${id}`);
      });
      await page.goto('/webhooks');
      await page.getByText('No webhooks yet').waitFor();
      await page.getByRole('button', { name: 'New webhook' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Address').fill('ftp://example.com');
      await dialog.getByRole('button', { name: 'Create webhook' }).click();
      await dialog.getByText('This is no http or https address').waitFor();
      await dialog.getByLabel('Address').fill(receiver.url);
      await dialog.getByRole('button', { name: 'Create webhook' }).click();
      const secret = await dialog.getByRole('group', { name: 'the secret' }).innerText();
      expect(secret).toMatch(/^whsec_/);
      await dialog.getByRole('button', { name: 'I have copied it' }).click();
      const actions = page.getByRole('button', { name: `Actions for ${receiver.url}` });

      await actions.click();
      await page.getByRole('menuitem', { name: 'Deliveries and test' }).click();
      receiver.answer((response) => response.writeHead(500).end());
      await page.getByRole('button', { name: 'Send a test event' }).click();
      const list = page.getByRole('region', { name: 'Deliveries' });
      await list.getByText('Waiting').waitFor();
      await until(async () => (await deliverDue()).includes('dead'));
      await list.getByText('Given up').waitFor();
      await list.getByText('it answered 500').waitFor();
      receiver.answer((response) => response.writeHead(204).end());
      await list.getByRole('button', { name: /^Repeat rtr\.webhook\.test/ }).click();
      await until(async () => (await deliverDue()).includes('delivered'));
      await list.getByText('Delivered').waitFor();
      expect(await seriousViolations(page)).toEqual([]);
      const client = new OpenAI({ apiKey: 'none' });
      for (const { body, headers } of receiver.messages) await client.webhooks.unwrap(body, headers, secret);

      receiver.answer((response) => response.writeHead(500).end());
      await page.getByRole('button', { name: 'Send a test event' }).click();
      await until(async () => (await deliverDue()).includes('dead'));
      await page.goto('/admin/background');
      await page.getByRole('row', { name: new RegExp(`^${receiver.url}.* 0 1 `) }).waitFor();
      expect(await seriousViolations(page)).toEqual([]);
      receiver.answer((response) => response.writeHead(204).end());
      await page.getByRole('button', { name: `Send again: events to ${receiver.url}` }).click();
      await until(async () => (await deliverDue()).includes('delivered'));
      await page.getByText('Every event has arrived').waitFor();
      await page.goto('/webhooks');

      await actions.click();
      await page.getByRole('menuitem', { name: 'Rotate the secret' }).click();
      await dialog.getByRole('button', { name: 'Make a new secret' }).click();
      expect(await dialog.getByRole('group', { name: 'the secret' }).innerText()).not.toBe(secret);
      await dialog.getByRole('button', { name: 'I have copied it' }).click();
      await actions.click();
      await page.getByRole('menuitem', { name: 'Disable' }).click();
      await page.getByText('Disabled').waitFor();
      await actions.click();
      await page.getByRole('menuitem', { name: 'Remove' }).click();
      await dialog.getByRole('button', { name: 'Remove webhook' }).click();
      await page.getByText('No webhooks yet').waitFor();
    });
  });

  describe('overview', () => {
    it('shows a request within seconds, without a reload', async () => {
      await page.goto('/');
      await page.getByRole('region', { name: 'Requests per second' }).waitFor();
      const lately = page.getByRole('region', { name: 'Requests per second' }).getByText(/in the last minute/);
      const before = Number(/[\d,]+/.exec(await lately.innerText())?.[0]);
      for (let count = 0; count < 5; count += 1)
        expect((await askWith(here.cluster, here.cluster.key)).status).toBe(200);
      await until(async () => expect(await lately.innerText()).toBe(`${before + 5} in the last minute`));
      await page.getByText(`${before + 5} served (100 %)`).waitFor();
    });

    it('shows what failed and under which id it is in the logs', async () => {
      const { status, headers } = await askWith(here.cluster, here.cluster.key, 'Fail.\n[demo fault=500]');
      expect(status).toBe(502);
      await page.goto('/');
      await page.getByText('upstream_failed').first().waitFor();
      await page.getByText(headers.get('x-request-id') ?? 'no id').waitFor();
    });

    it('shows that the connection is lost, and reconnects by itself', async () => {
      await watched.context.route('**/console/api/live*', (route) => route.abort());
      await page.goto('/');
      await page.getByRole('status', { name: /^Offline/ }).waitFor();
      await watched.context.unroute('**/console/api/live*');
      await page.getByRole('status', { name: /^Live/ }).waitFor();
      await until(async () => expect(await page.getByRole('status', { name: /^Offline/ }).count()).toBe(0));
      await page.getByRole('region', { name: 'Requests per second' }).waitFor();
    });
  });

  describe('workers', () => {
    it('drains a worker, which then takes nothing new, and undrains it', async () => {
      const added = await here.cluster.addWorker();
      onTestFinished(async () => void (await added.stop()));
      const worker = String((await added.line('gpu-worker is ready'))['worker']);
      await page.goto('/workers');
      const rowOf = (table: string) =>
        page.getByRole('table', { name: table, exact: true }).getByRole('row', { name: new RegExp(worker) });
      const row = rowOf('Workers');
      await row.getByText('Serving').waitFor();
      await row.getByRole('button', { name: `Drain ${worker}` }).click();
      await row.getByText('Drained, safe to stop').waitFor();
      for (let count = 0; count < 8; count += 1) {
        const { headers } = await askWith(here.cluster, here.cluster.key);
        expect(headers.get('x-rtr-worker')).not.toBe(worker);
      }
      await row.getByRole('button', { name: `Undrain ${worker}` }).click();
      await row.getByText('Serving').waitFor();
      await page.goto('/admin/audit');
      await page.getByText('worker.drain').first().waitFor();
      await added.stop();
      await page.goto('/workers');
      await rowOf('Workers that are gone').getByText('Left after a drain').waitFor();
      await until(async () => expect(await row.count()).toBe(0));
    });
  });

  describe('models', () => {
    it('shows code with the address filled in and the key left out', async () => {
      await page.goto('/models');
      await page.getByRole('button', { name: 'How to use demo' }).click();
      const dialog = page.getByRole('dialog');
      const code = await dialog.getByRole('group', { name: 'the code for curl' }).innerText();
      expect(code).toContain(`${here.cluster.url}/api/openai/chat/completions`);
      expect(code).toContain('$RTR_KEY');
      for (const name of ['OpenAI, Python', 'Anthropic, TypeScript', 'Anthropic, Python', 'Claude Code', 'opencode']) {
        await dialog.getByRole('tab', { name, exact: true }).click();
        expect(await dialog.getByRole('group', { name: `the code for ${name}` }).innerText()).toContain(
          here.cluster.url,
        );
      }
    });
  });

  describe('playground', () => {
    it.each(['OpenAI', 'Anthropic'])('talks in the format of %s and shows who answered', async (format) => {
      await page.goto('/playground');
      await page.getByRole('radiogroup', { name: 'Format of the request' }).getByText(format).click();
      await page.getByLabel('Your message').fill('Say hello to the harbour.');
      await page.keyboard.press('Enter');
      const answer = page.getByRole('article', { name: 'Model' }).last();
      await answer.getByText(/worker w\w+ .* tokens in/).waitFor();
      expect(await answer.locator('.prose').innerText()).toContain('harbour');
      await answer.getByText('GPU', { exact: true }).waitFor();
      await page.getByLabel('Your message').fill('And again.');
      await page.getByRole('button', { name: 'Send' }).click();
      await until(async () => expect(await page.getByRole('article', { name: 'Model' }).count()).toBe(2), 10_000);
      await page
        .getByRole('article', { name: 'Model' })
        .last()
        .getByText(/tokens in/)
        .waitFor();
    });

    it.each(['OpenAI', 'Anthropic'])('shows thinking apart from the answer in the format of %s', async (format) => {
      await page.goto('/playground');
      await page.getByRole('radiogroup', { name: 'Format of the request' }).getByText(format).click();
      await page.getByRole('switch', { name: 'Think before answering' }).click();
      await page.getByLabel('Your message').fill('What is the tide?');
      await page.keyboard.press('Enter');
      const answer = page.getByRole('article', { name: 'Model' });
      await answer.getByText(/tokens in/).waitFor();
      const thinking = answer.getByText('Thinking', { exact: true });
      await thinking.waitFor();
      expect(
        await answer
          .locator('.prose')
          .filter({ has: page.getByText('Thinking', { exact: true }) })
          .count(),
      ).toBe(0);
    });

    it('stops an answer on demand, which ends the request at once', async () => {
      await page.goto('/playground');
      await page.getByLabel('Your message').fill('Slowly.\n[demo rate=5 tokens=500]');
      await page.keyboard.press('Enter');
      await page.getByRole('article', { name: 'Model' }).locator('.prose').waitFor();
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByText('You stopped the answer.').waitFor();
      await until(async () => expect(await page.getByRole('button', { name: 'Stop' }).count()).toBe(0));
      await page.goto('/');
      await page.getByRole('region', { name: 'Active streams' }).getByText('0', { exact: true }).waitFor();
    });

    it('shows why an answer failed, also midway, and asks again', async () => {
      await page.goto('/playground');
      await page.getByLabel('Your message').fill('Hello!\n[demo fault=drop after=3]');
      await page.keyboard.press('Enter');
      const alert = page.getByRole('article', { name: 'Model' }).getByRole('alert');
      await alert.getByText('The answer failed').waitFor();
      await alert.getByRole('button', { name: 'Try again' }).click();
      await alert.getByText('The answer failed').waitFor();
      await until(async () => expect(await page.getByRole('article').count()).toBe(2));
    });

    it.each(['OpenAI', 'Anthropic'])('runs a tool that the model asks for, in the format of %s', async (format) => {
      await page.goto('/playground');
      await page.getByRole('radiogroup', { name: 'Format of the request' }).getByText(format).click();
      await page.getByRole('combobox', { name: 'Tools of this router' }).click();
      await page.getByRole('option', { name: 'calculator' }).click();
      await page.keyboard.press('Escape');
      await page.getByLabel('Your message').fill('Use the tool calculator with expression "6*7".');
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByRole('button', { name: 'Run calculator' }).click();
      await page.getByRole('group', { name: 'Result of calculator' }).waitFor();
      const second = page.getByRole('article', { name: 'Model' }).nth(1);
      await second.locator('.prose').waitFor();
      await second.getByText(/tokens in/).waitFor();
      expect(await page.getByRole('article', { name: 'Model' }).count()).toBe(2);
    });

    it.each(['OpenAI', 'Anthropic'])('sends a picture, in the format of %s', async (format) => {
      await page.goto('/playground');
      await page.getByRole('radiogroup', { name: 'Format of the request' }).getByText(format).click();
      await page.locator('input[type=file]').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: picture });
      await page.getByRole('img', { name: 'Attachment 1' }).waitFor();
      await page.getByLabel('Your message').fill('What is this?');
      await page.getByRole('button', { name: 'Send' }).click();
      const answer = page.getByRole('article', { name: 'Model' });
      await answer.getByText(/tokens in/).waitFor();
      expect(await answer.locator('.prose').innerText()).toMatch(/image|picture|png/i);
    });

    it('shows the request as curl, without any key', async () => {
      await page.goto('/playground');
      await page.getByLabel('Your message').fill("It's here.");
      await page.keyboard.press('Enter');
      await page
        .getByRole('article', { name: 'Model' })
        .getByText(/tokens in/)
        .waitFor();
      await page.getByRole('button', { name: 'Show as curl' }).click();
      const code = await page.getByRole('dialog').getByRole('group', { name: 'the request' }).innerText();
      expect(code).toContain('Authorization: Bearer $RTR_KEY');
      expect(code).toContain(String.raw`It'\''s here.`);
      expect(code).not.toMatch(/csrf|rtr_\w|user\.\w|cookie/);
    });

    it('shows markup in an answer as text', async () => {
      await page.goto('/playground');
      await page.getByLabel('Your message').fill('Repeat: <img src=x onerror="window.hit = 1"> <b id="bold">x</b>');
      await page.keyboard.press('Enter');
      await page
        .getByRole('article', { name: 'Model' })
        .getByText(/tokens in/)
        .waitFor();
      expect(await page.evaluate('window.hit ?? document.getElementById("bold") ?? "nothing"')).toBe('nothing');
    });
  });

  describe('tools', () => {
    it('runs a tool through the form made from its schema', async () => {
      await page.goto('/tools');
      await page.getByRole('link', { name: 'Run calculator' }).click();
      await page.getByLabel('expression').fill('2^64');
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      const result = page.getByRole('region', { name: 'Result' });
      await until(async () => expect(await result.innerText()).toContain('18446744073709551616'));
    });

    it('shows what is wrong with the input, and accepts raw JSON', async () => {
      await page.goto('/tools/calculator');
      await page.getByRole('switch', { name: 'Write JSON' }).click();
      await page.getByLabel('JSON', { exact: true }).fill('{"expression": ');
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByText('This is not JSON').waitFor();
      await page.getByLabel('JSON', { exact: true }).fill('{"expr": 1}');
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByText('The tool was not run').waitFor();
      await until(async () => expect(await page.getByText('This is not JSON').count()).toBe(0));
    });
  });

  describe('keys', () => {
    it('creates a key that works, changes, rotates and revokes it', async () => {
      await page.goto('/keys');
      const [name, changed] = [uniqueName('laptop'), uniqueName('laptop of Ada')];
      const raw = await makeKey(page, name);
      expect((await askWith(here.cluster, raw)).status).toBe(200);
      await until(async () => expect(await page.content()).not.toContain(raw));

      await page.getByRole('button', { name: `Actions for ${name}` }).click();
      await page.getByRole('menuitem', { name: 'Change' }).click();
      await page.getByRole('dialog').getByLabel('Name').fill(changed);
      await page.getByRole('dialog').getByLabel('Requests a minute').fill('30');
      // Key by key, as a person types: for a moment nothing follows the point.
      await page.getByRole('dialog').getByLabel('Dollars a day').pressSequentially('12.50');
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
      const row = page.getByRole('row', { name: new RegExp(changed) });
      await row.getByText('30 requests a minute').waitFor();
      await row.getByText('$12.50 a day').waitFor();

      await page.getByRole('button', { name: `Actions for ${changed}` }).click();
      await page.getByRole('menuitem', { name: 'Rotate' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Create new key' }).click();
      const next = await page.getByRole('dialog').getByRole('group', { name: 'the key' }).innerText();
      await page.getByRole('button', { name: 'I have copied it' }).click();
      expect(next).not.toBe(raw);
      expect((await askWith(here.cluster, raw)).status).toBe(200);
      expect((await askWith(here.cluster, next)).status).toBe(200);

      await page
        .getByRole('button', { name: `Actions for ${changed}` })
        .first()
        .click();
      await page.getByRole('menuitem', { name: 'Revoke' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).click();
      await until(async () => expect(await page.getByRole('dialog').count()).toBe(0), 10_000);
      await until(
        async () =>
          expect(
            [(await askWith(here.cluster, raw)).status, (await askWith(here.cluster, next)).status].sort(
              (a, b) => a - b,
            ),
          ).toEqual([200, 401]),
        10_000,
      );
    });

    it('has those tools only that its form grants, and all when it names none', async () => {
      await page.goto('/keys');
      const name = uniqueName('sums');
      const raw = await makeKey(page, name, async (dialog) => {
        await dialog.getByRole('combobox', { name: 'Tools' }).click();
        await page.getByRole('option', { name: 'calculator' }).click();
        await dialog.getByLabel('Name').click();
      });
      expect(await toolsOf(here.cluster, raw)).toEqual(['calculator']);
      expect(await useTool(here.cluster, raw, 'calculator', { expression: '2^64' })).toBe(200);
      expect(await useTool(here.cluster, raw, 'current_time')).toBe(403);

      await page.getByRole('button', { name: `Actions for ${name}` }).click();
      await page.getByRole('menuitem', { name: 'Change' }).click();
      await page.getByRole('dialog').getByLabel('Allow all tools').click();
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
      await until(async () => expect((await toolsOf(here.cluster, raw)).length).toBeGreaterThan(1), 10_000);
      expect(await useTool(here.cluster, raw, 'current_time')).toBe(200);
    });

    it('shows markup in names as text', async () => {
      await page.goto('/keys');
      const name = '<img src=x onerror="window.hit=1">';
      await makeKey(page, name);
      await page.getByText(name).first().waitFor();
      expect(await page.evaluate('window.hit')).toBeUndefined();
    });

    it('marks the invalid input', async () => {
      await page.goto('/keys');
      await page.getByRole('button', { name: 'New key' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('   ');
      await dialog.getByRole('button', { name: 'Create key' }).click();
      await dialog.getByText(/name/i).nth(1).waitFor();
      await until(async () => expect(await dialog.getByLabel('Name').getAttribute('aria-invalid')).toBe('true'));
    });
  });

  describe('admin', () => {
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
      await page.getByRole('dialog').getByRole('combobox', { name: 'Team' }).click();
      await page.getByRole('option', { name: team }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Create link' }).click();
      const link = await page.getByRole('dialog').getByRole('group', { name: 'the link' }).innerText();
      await page.getByRole('button', { name: 'I have copied it' }).click();
      await page.getByRole('row', { name: new RegExp(`${email}.*${team}`) }).waitFor();

      const guest = await openConsolePage(here.browser, here.cluster.url);
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

      await page.goto('/admin/people');
      await page.getByRole('button', { name: `Actions for ${name}` }).click();
      await page.getByRole('menuitem', { name: 'Block' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Block' }).click();
      await page
        .getByRole('row', { name: new RegExp(name) })
        .getByText('Blocked')
        .waitFor();
      // The open page too: its live feed ends within seconds, and the page then finds its session ended.
      await guest.page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor({ timeout: 20_000 });
      expect(guest.troubles).toEqual([]);
      await guest.context.close();
    });

    it('sets a price, by which requests are then charged, and resets it', async () => {
      await page.goto('/admin/prices');
      await page.getByRole('button', { name: 'Set a price' }).click();
      await page.getByRole('dialog').getByLabel('Model').fill('demo');
      await page.getByRole('dialog').getByLabel('Input', { exact: true }).fill('1000');
      await page.getByRole('dialog').getByLabel('Output').fill('2000');
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
      await page.getByLabel('Find a model').fill('demo');
      await page.getByRole('cell', { name: '$2,000.00' }).waitFor();
      await askWith(here.cluster, here.cluster.key);
      await page.goto('/usage?measure=cost');
      await page
        .getByRole('region', { name: 'Cost' })
        .getByText(/^\$0\.0[1-9]|^\$0\.[1-9]/)
        // The page polls every ten seconds, in case it was faster than the ledger.
        .waitFor({ timeout: 15_000 });
      await page.goto('/admin/prices');
      await page.getByRole('button', { name: 'Reset the price of demo' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Reset price' }).click();
      await until(
        async () => expect(await page.getByRole('button', { name: 'Reset the price of demo' }).count()).toBe(0),
        10_000,
      );
      await page.goto('/admin/audit');
      await page.getByText('price.change').first().waitFor();
    });

    it('keeps changed settings', async () => {
      await page.goto('/admin/settings');
      await page.getByLabel('Days until an invitation expires').fill('3');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Saved.').waitFor();
      await page.reload();
      await until(
        async () => expect(await page.getByLabel('Days until an invitation expires').inputValue()).toBe('3'),
        10_000,
      );
    });
  });

  describe('account', () => {
    it('changes the password and stays signed in', async () => {
      const name = await becomeSomebodyNew();
      await page.goto('/account');
      await page.getByLabel('Current password').fill('wrong');
      await page.getByRole('textbox', { name: 'New password' }).fill('walnut orbit 17 gravel');
      await page.getByRole('button', { name: 'Change password' }).click();
      await page.getByText('This is not your password.').waitFor();
      await page.getByLabel('Current password').fill(goodPassword);
      await page.getByRole('button', { name: 'Change password' }).click();
      await page.getByText('The password is changed').waitFor();
      await page.getByRole('button', { name: /^Account of/ }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
      await page.getByLabel('E-mail').fill(`${name.toLowerCase()}@example.com`);
      await page.getByRole('textbox', { name: 'Password' }).fill('walnut orbit 17 gravel');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
      await until(() => expect(new URL(page.url()).pathname).toBe('/account'));
    });
  });
});

async function makeKey(
  page: Page,
  name: string,
  fill: (dialog: Locator) => Promise<void> = () => Promise.resolve(),
): Promise<string> {
  await page.getByRole('button', { name: 'New key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill(name);
  await fill(dialog);
  await dialog.getByRole('button', { name: 'Create key' }).click();
  const raw = await dialog.getByRole('group', { name: 'the key' }).innerText();
  await page.getByRole('button', { name: 'I have copied it' }).click();
  await until(async () => expect(await page.getByRole('dialog').count()).toBe(0), 10_000);
  return raw;
}

/** The names of the tools that a key sees. */
async function toolsOf({ url }: ConsoleCluster, key: string): Promise<string[]> {
  const answer = await fetch(`${url}/api/tools/v1/list`, { headers: { authorization: `Bearer ${key}` } });
  return ((await answer.json()) as { data: { name: string }[] }).data.map(({ name }) => name);
}

/** Runs a tool with a key, and returns the status. */
async function useTool({ url }: ConsoleCluster, key: string, tool: string, input: object = {}): Promise<number> {
  const answer = await fetch(`${url}/api/tools/v1/execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ tool, input }),
  });
  await answer.text();
  return answer.status;
}

async function askWith({ url }: ConsoleCluster, key: string, content = 'Hello!'): Promise<Response> {
  const answer = await fetch(`${url}/api/openai/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content }] }),
  });
  await answer.text();
  return answer;
}
