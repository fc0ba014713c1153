import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthority } from '#shared/broker/authority/authority.ts';
import { writeAuthority } from '#shared/broker/authority/authority-folder.ts';
import { parseCredential } from '#shared/broker/connection/credential.ts';
import {
  makeFirstAccount,
  openConsolePage,
  phone,
  seriousViolations,
  waitUntilLoaded,
} from '../../helpers/console/console-page.ts';
import { chromiumPath, openBrowser } from '../../helpers/console/open-browser.ts';
import { startConsole, type ConsoleCluster } from '../../helpers/console/start-console.ts';

describe.skipIf(chromiumPath === undefined)('the page of the workers', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rtr-test-authority-'));
  let cluster: ConsoleCluster;
  let browser: Browser;

  beforeAll(async () => {
    cluster = await startConsole({ workers: 0 });
    await writeAuthority(folder, await createAuthority(cluster.prefix, undefined));
    browser = await openBrowser();
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await cluster?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('says which command makes a credential where the ingress makes none', async () => {
    const { page, context, troubles } = await openConsolePage(browser, cluster.url);
    await makeFirstAccount(page, cluster.firstLink);
    await page.goto('/workers');
    await page.getByText('npx rtr credentials worker').waitFor();
    expect(await page.getByRole('button', { name: 'Add a worker' }).count()).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
    expect(troubles).toEqual([]);
    await context.close();
  });

  it('adds a worker: its credential is shown once and downloaded, then listed and revoked', async () => {
    const node = await cluster.addIngress({ CREDENTIALS_DIR: folder });
    const { page, context, troubles } = await openConsolePage(browser, node.url);
    await page.goto('/workers');
    await page.getByLabel('E-mail').fill('ada@example.com');
    await page.getByRole('textbox', { name: 'Password' }).fill('tulip anvil 42 harbour');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Add a worker' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('joe.box');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('A name has up to 64 letters').waitFor();
    await dialog.getByLabel('Name').fill('joes-box');
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('The file and the command apart').click();
    const shown = await dialog.getByRole('group', { name: 'the credential' }).innerText();
    expect(parseCredential(shown)).toMatchObject({ owner: 'joes-box', role: 'gpu', prefix: cluster.prefix });
    const command = await dialog.getByRole('group', { name: 'the command' }).innerText();
    expect(command).toMatch(/^ENGINE_URL=\S+ npx rtr worker gpu --nats \S+ --credentials joes-box\.creds$/);
    expect(await seriousViolations(page)).toEqual([]);
    const download = page.waitForEvent('download');
    await dialog.getByRole('link', { name: 'joes-box.creds' }).click();
    const file = await download;
    expect(file.suggestedFilename()).toBe('joes-box.creds');
    expect(readFileSync(await file.path(), 'utf8').trim()).toBe(shown.trim());
    await dialog.getByRole('button', { name: 'Done' }).click();

    const row = page.getByRole('row', { name: /joes-box/ });
    await row.getByText('Valid').waitFor();
    expect(await page.getByText('BEGIN').count()).toBe(0);
    await row.getByRole('button', { name: 'Revoke joes-box' }).click();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('status').getByText('nats-server --signal reload').waitFor();
    await row.getByText('Revoked').waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    expect(await row.getByRole('button').count()).toBe(0);
    await page.goto('/admin/audit');
    await page.getByText('credential.revoke').waitFor();

    await page.setViewportSize({ width: phone.width, height: phone.height });
    await page.goto('/workers');
    await waitUntilLoaded(page);
    await page.getByRole('list', { name: 'Credentials' }).getByText('joes-box').waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    expect(troubles).toEqual([]);
    await context.close();
  });
});
