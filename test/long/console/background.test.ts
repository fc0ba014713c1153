// @module-tag chromium
import { readFileSync } from 'node:fs';
import OpenAI from 'openai';
import type { Locator, Page } from 'playwright-core';
import { beforeEach, describe, expect, inject, it } from 'vitest';
import { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import { Batches } from '#shared/accounts/batches/batches.ts';
import { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { BackgroundWorker } from '#shared/background/background-worker.ts';
import { createEndingJob } from '#shared/background/batch-jobs.ts';
import { openKeyStore } from '../../helpers/accounts/open-key-store.ts';
import { chatLine } from '../../helpers/batches/batch-clients.ts';
import { chooseAction, takeSecret } from '../../helpers/console/page-actions.ts';
import { phone, wide } from '../../helpers/console/console-page.ts';
import { expectGood, expectNoViolation } from '../../helpers/console/page-checks.ts';
import { ownConsole } from '../../helpers/console/console-with-ada.ts';
import { openAs, openPageAs } from '../../helpers/console/open-as.ts';
import { silentLog } from '../../helpers/silent-log.ts';
import { uniqueName } from '../../helpers/unique-name.ts';
import { stopAfterTest } from '../../helpers/stop-after-test.ts';
import { until } from '../../helpers/until.ts';
import { openTestWebhooks } from '../../helpers/webhooks/open-test-webhooks.ts';
import { startReceiver } from '../../helpers/webhooks/start-receiver.ts';

describe('the console', () => {
  // The administrator's page shows all that waits and fails.
  const here = ownConsole();
  let page: Page;

  beforeEach(async () => {
    ({ page } = await openAs(here.ada));
  });

  describe('batches', () => {
    const line = (id: string, text: string, model = 'demo'): string => JSON.stringify(chatLine(id, text, { model }));
    const fileOf = (...lines: string[]) => {
      return { name: 'requests.jsonl', mimeType: 'application/jsonl', buffer: Buffer.from(lines.join('\n')) };
    };
    const createFrom = async (...lines: string[]): Promise<void> => {
      await page
        .getByRole('dialog')
        .locator('input[type=file]')
        .setInputFiles(fileOf(...lines));
      await page.getByRole('button', { name: 'Create batch' }).click();
    };

    it('are created from a file, watched, cancelled, and their answers and errors downloaded', async () => {
      stopAfterTest(await here.cluster.addBatchRunner());
      ({ page } = await openPageAs(await here.invite('Joe'), '/batches'));
      await page.getByText('No batches yet').waitFor();
      await page.getByRole('button', { name: 'New batch' }).click();
      const dialog = page.getByRole('dialog');
      await createFrom('[]');
      await dialog.getByText('The first line of the file is not a request of a batch.').waitFor();
      const file = fileOf(line('a', 'Say A.'), line('b', 'Say B.'), '', line('c', 'Hi.', 'nobody'));
      await dialog.locator('input[type=file]').setInputFiles(file);
      const window = dialog.getByRole('textbox', { name: 'Hours until unfinished requests expire' });
      await until(async () => expect(await window.inputValue()).toBe('24'));
      await window.fill('100');
      const creation = page.waitForRequest(
        (request) => request.method() === 'POST' && request.url().endsWith('/batches'),
      );
      await dialog.getByRole('button', { name: 'Create batch' }).click();
      const created = await (await creation).response();
      expect(await created?.json()).toMatchObject({ completion_window: '100h' });
      const row = page.getByRole('row', { name: /batch_/ });
      await row.getByText('Complete').waitFor();
      await row.getByText('3 of 3, 1 failed').waitFor();
      await expectNoViolation(page);
      await page.setViewportSize(phone);
      await page.getByRole('list', { name: 'Batches' }).getByText('3 of 3, 1 failed').waitFor();
      await expectGood(page);
      await page.setViewportSize(wide);
      await row.getByRole('button', { name: /^Details of/ }).focus();
      await page.keyboard.press('Enter');
      const errors = dialog.getByRole('region', { name: 'First errors' });
      await errors.getByText('model_not_found: No model of this name is served.').waitFor();
      await errors.getByRole('row', { name: /^4 / }).waitFor();
      await expectNoViolation(page);
      const link = (what: string) => dialog.getByRole('link', { name: `Download the ${what}` });
      expect(await downloaded(link('answers'))).toMatch(/"custom_id":"a"/);
      expect(await downloaded(link('errors'))).toMatch(/^\{[^\n]*"custom_id":"c"[^\n]*\n$/);
      await page.keyboard.press('Escape');
      const focused = (): Promise<unknown> => page.evaluate('document.activeElement.getAttribute("aria-label")');
      await until(async () => expect(await focused()).toMatch(/^Details of batch_/));

      await page.getByRole('button', { name: 'New batch' }).click();
      await createFrom(line('slow', 'Hi.\n[demo delay=60000]'));
      const running = page.getByRole('row', { name: /Running|Checking/ });
      await running.getByRole('button', { name: /^Cancel/ }).click();
      await dialog.getByRole('button', { name: 'Cancel batch' }).click();
      await page.getByText('Cancelled', { exact: true }).waitFor();
      await page.getByText('0 of 1, 1 cancelled').waitFor();
    });

    describe('are not run after Cancel', () => {
      const held = { promise: Promise.resolve(), resolve: (): void => undefined };
      let uploads: number;

      beforeEach(async () => {
        ({ page } = await openPageAs(await here.invite('Joe'), '/batches'));
        Object.assign(held, Promise.withResolvers<void>());
        uploads = 0;
        page.on('request', (request) => {
          if (request.method() === 'POST' && request.url().endsWith('/api/openai/files')) uploads += 1;
        });
      });

      const createNew = async (...lines: string[]): Promise<void> => {
        await page.getByRole('button', { name: 'New batch' }).click();
        await createFrom(...lines);
      };
      const cancel = async (): Promise<void> => {
        await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
        await page.getByRole('dialog').waitFor({ state: 'detached' });
        held.resolve();
      };

      it('while the page reads their file', async () => {
        const reached = Promise.withResolvers<void>();
        await page.exposeFunction('reached', () => {
          reached.resolve();
          return held.promise;
        });
        // A file on a slow disk.
        await page.evaluate(`{
          const { text } = Blob.prototype;
          Object.assign(Blob.prototype, { async text() { await reached(); return text.call(this); } });
        }`);
        await createNew(line('a', 'Say A.'));
        await reached.promise;
        await cancel();
        await createNew(line('b', 'Say B.'));
        await page.getByRole('row', { name: /batch_/ }).waitFor();
        expect(await page.getByRole('row', { name: /batch_/ }).count()).toBe(1);
        expect(uploads).toBe(1);
      });

      it('while the router creates them', async () => {
        await page.route('**/api/openai/batches', async (route) => {
          await held.promise;
          await route.continue();
        });
        const creation = page.waitForRequest('**/api/openai/batches');
        await createNew(line('a', 'Say A.'));
        await creation;
        await cancel();
        await page
          .getByRole('row', { name: /batch_/ })
          .getByText('Cancelling')
          .waitFor();
        expect(uploads).toBe(1);
      });
    });

    it('that nobody works on wait in a queue, which administrators see', async () => {
      const waiting = page
        .getByRole('row', { name: /^Inputs of batches are checked/ })
        .getByRole('cell')
        .nth(1);
      await page.goto('/admin/background');
      const before = Number(await waiting.innerText());
      await page.goto('/batches');
      await page.getByRole('button', { name: 'New batch' }).click();
      await createFrom(line('a', 'Say A.'));
      await page.getByText('its input is being checked').waitFor();
      await page.goto('/admin/background');
      await until(async () => expect(await waiting.innerText()).toBe(String(before + 1)));
      await page.getByText('No job fails').waitFor();
      await page.getByText('Every event has arrived').waitFor();
      await page.getByRole('link', { name: 'Show all batches that are not over' }).click();
      await page.getByRole('row', { name: /Ada.*Checking/ }).waitFor();
      await expectNoViolation(page);
      const of = page.getByRole('combobox', { name: 'Owner' });
      await until(async () => expect(await of.inputValue()).toBe('Everybody: unfinished batches'));
      await of.click();
      await page.getByRole('option', { name: 'Your own' }).click();
      await page.getByRole('row', { name: /Checking/ }).waitFor();
      await until(() => expect(new URL(page.url()).search).toBe(''));
    });

    it('are shown to the first one, however many there are', async () => {
      const { id: owner } = await here.cluster.addKey({});
      const { connection } = await openKeyStore(inject('redisUrl'));
      const report = (): void => undefined;
      const bounds = { maxOpen: 1_000, keepMs: 3_600_000 };
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
        await until(async () => expect(await rows.count()).toBe(shown));
        await page.getByRole('button', { name: 'Show earlier batches' }).click();
      }
      await until(async () => expect(await rows.count()).toBe(553));
      await page.getByRole('row', { name: new RegExp(`batch_${owner}_0 `) }).waitFor();
      const more = page.getByRole('button', { name: 'Show earlier batches' });
      await until(async () => expect(await more.count()).toBe(0));
    });

    it('fail in the background with a reason, and are tried again at once', async () => {
      const access = { url: inject('redisUrl'), prefix: `${here.cluster.prefix}:`, log: silentLog };
      let isBroken = true;
      const handle = async (): Promise<void> => {
        if (isBroken) throw new Error('The storage for files is away.');
      };
      const worker = stopAfterTest(new BackgroundWorker({ access, queue: 'batch-endings', concurrency: 1, handle }));
      const jobs = stopAfterTest(new BackgroundJobs(access));
      const id = uniqueName('batch_1');
      await jobs.add(createEndingJob(id));
      // A later attempt waits for long enough to be looked at.
      await until(() => worker.failures >= 4);
      await page.goto('/admin/background');
      const row = new RegExp(`^${id} batch-endings 4 .* The storage for files is away\\. `);
      await page.getByRole('row', { name: row }).waitFor();
      await expectNoViolation(page);
      isBroken = false;
      await page.getByRole('button', { name: `Repeat now: ${id}` }).click();
      await page.getByText('No job fails').waitFor();
      await until(() => expect(worker.completions).toBe(1));
    });

    it('have files, which are uploaded, downloaded and deleted, within a quota', async () => {
      ({ page } = await openPageAs(await here.invite('Joe'), '/files'));
      await page.getByRole('button', { name: 'Upload a file' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.locator('input[type=file]').setInputFiles({ ...fileOf('{}', '{}'), name: 'mine.jsonl' });
      await dialog.getByRole('button', { name: 'Upload', exact: true }).click();
      const row = page.getByRole('row', { name: /^mine\.jsonl/ });
      await row.getByText('5 bytes').waitFor();
      await page.getByText(/ of 240 MiB, /).waitFor();
      expect(await downloaded(row.getByRole('link', { name: 'Download mine.jsonl' }))).toBe('{}\n{}');
      await row.getByRole('button', { name: 'Delete mine.jsonl' }).click();
      await dialog.getByRole('button', { name: 'Delete file' }).click();
      await until(async () => expect(await row.count()).toBe(0));
    });

    it('have files, which are shown to the first one, however many there are', async () => {
      const { id: owner, raw } = await here.cluster.addKey({});
      const names = Array.from({ length: 512 }, (_, at) => `file-${at}.jsonl`);
      const upload = async (name: string): Promise<void> => {
        const form = new FormData();
        form.append('purpose', 'batch');
        form.append('file', new File(['{}'], name));
        const headers = { authorization: `Bearer ${raw}` };
        const answer = await fetch(`${here.cluster.url}/api/openai/files`, { method: 'POST', headers, body: form });
        expect(answer.status).toBe(200);
      };
      for (let from = 0; from < names.length; from += 8) await Promise.all(names.slice(from, from + 8).map(upload));
      await page.goto(`/files?of=key:${owner}`);
      const rows = page.getByRole('row', { name: /^file-\d+\.jsonl/ });
      for (let shown = 50; shown < 512; shown += 50) {
        await until(async () => expect(await rows.count()).toBe(shown));
        await page.getByRole('button', { name: 'Show earlier files' }).click();
      }
      await until(async () => expect(await rows.count()).toBe(512));
      await until(async () => expect(await page.getByRole('button', { name: 'Show earlier files' }).count()).toBe(0));
      expect(await page.getByRole('region', { name: 'Storage' }).count()).toBe(1);
    });

    async function downloaded(link: Locator): Promise<string> {
      const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
      return readFileSync(await download.path(), 'utf8');
    }
  });

  describe('webhooks', () => {
    it('are made, tried, repeated, disabled and removed', async () => {
      const receiver = await startReceiver();
      const { deliverDue } = await openTestWebhooks({ prefix: `${here.cluster.prefix}:` });
      await page.goto('/webhooks');
      await page.getByText('No webhooks yet').waitFor();
      await page.getByRole('button', { name: 'New webhook' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Address').fill('ftp://example.com');
      await dialog.getByRole('button', { name: 'Create webhook' }).click();
      await dialog.getByText('This is no http or https address').waitFor();
      await dialog.getByLabel('Address').fill(receiver.url);
      const secret = await takeSecret(page, 'Create webhook', 'the secret');
      expect(secret).toMatch(/^whsec_/);
      /** Sends an event that the receiver does not take. */
      const failOnce = async (): Promise<void> => {
        receiver.answer((response) => response.writeHead(500).end());
        await page.getByRole('button', { name: 'Send a test event' }).click();
      };
      await chooseAction(page, receiver.url, 'Deliveries and test');
      await failOnce();
      const list = page.getByRole('region', { name: 'Deliveries' });
      await list.getByText('Waiting').waitFor();
      await until(async () => (await deliverDue()).includes('dead'));
      await list.getByText('Given up').waitFor();
      await list.getByText('it answered 500').waitFor();
      receiver.answer((response) => response.writeHead(204).end());
      await list.getByRole('button', { name: /^Repeat rtr\.webhook\.test/ }).click();
      await until(async () => (await deliverDue()).includes('delivered'));
      await list.getByText('Delivered').waitFor();
      await expectNoViolation(page);
      const client = new OpenAI({ apiKey: 'none' });
      for (const { body, headers } of receiver.messages) await client.webhooks.unwrap(body, headers, secret);

      await failOnce();
      await until(async () => (await deliverDue()).includes('dead'));
      await page.goto('/admin/background');
      await page.getByRole('row', { name: new RegExp(`^${receiver.url}.* 0 1 `) }).waitFor();
      await expectNoViolation(page);
      receiver.answer((response) => response.writeHead(204).end());
      await page.getByRole('button', { name: `Send again: events to ${receiver.url}` }).click();
      await until(async () => (await deliverDue()).includes('delivered'));
      await page.getByText('Every event has arrived').waitFor();
      await page.goto('/webhooks');

      await chooseAction(page, receiver.url, 'Rotate the secret');
      expect(await takeSecret(page, 'Make a new secret', 'the secret')).not.toBe(secret);
      await chooseAction(page, receiver.url, 'Disable');
      await page.getByText('Disabled').waitFor();
      await chooseAction(page, receiver.url, 'Remove');
      await dialog.getByRole('button', { name: 'Remove webhook' }).click();
      await page.getByText('No webhooks yet').waitFor();
    });
  });
});
