import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthority } from '#shared/broker/authority/authority.ts';
import { writeAuthority } from '#shared/broker/authority/authority-folder.ts';
import { parseCredential } from '#shared/broker/connection/credential.ts';
import { ConsoleClient } from '../../helpers/console/console-client.ts';
import { phone, seriousViolations, waitUntilLoaded } from '../../helpers/console/console-page.ts';
import { joinConsole, openAs, type SignedInPerson } from '../../helpers/console/open-as.ts';
import { chromiumPath, openBrowser } from '../../helpers/console/open-browser.ts';
import { startConsole, type ConsoleCluster } from '../../helpers/console/start-console.ts';
import { uniqueName } from '../../helpers/unique-name.ts';
import { until } from '../../helpers/until.ts';

describe.skipIf(chromiumPath === undefined)('the page of the workers', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rtr-test-authority-'));
  let cluster: ConsoleCluster;
  let browser: Browser;
  let ada: SignedInPerson;

  beforeAll(async () => {
    cluster = await startConsole({ workers: 0 });
    await writeAuthority(folder, await createAuthority(cluster.prefix, undefined));
    browser = await openBrowser();
    ada = await joinConsole(new ConsoleClient(cluster.url), cluster.firstLink, 'Ada');
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await cluster?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('says which command makes a credential where the ingress makes none', async () => {
    const { page, context, troubles } = await openAs(browser, ada);
    await page.goto('/workers');
    await page.getByText('npx rtr credentials worker').waitFor();
    expect(await page.getByRole('button', { name: 'Add a worker' }).count()).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
    expect(troubles).toEqual([]);
    await context.close();
  });

  it('adds a worker: its credential is shown once and downloaded, then listed and revoked', async () => {
    const node = await cluster.addIngress({ CREDENTIALS_DIR: folder });
    const name = uniqueName('joes-box');
    const { page, context, troubles } = await openAs(browser, ada, { origin: node.url });
    await page.goto('/workers');
    await page.getByRole('button', { name: 'Add a worker' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('joe.box');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('A name has up to 64 letters').waitFor();
    await dialog.getByLabel('Name').fill(name);
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('The file and the command apart').click();
    const shown = await dialog.getByRole('group', { name: 'the credential' }).innerText();
    expect(parseCredential(shown)).toMatchObject({ owner: name, role: 'gpu', prefix: cluster.prefix });
    const command = await dialog.getByRole('group', { name: 'the command' }).innerText();
    expect(command).toMatch(
      new RegExp(`^ENGINE_URL=\\S+ npx rtr worker gpu --nats \\S+ --credentials ${name}\\.creds$`),
    );
    expect(await seriousViolations(page)).toEqual([]);
    const download = page.waitForEvent('download');
    await dialog.getByRole('link', { name: `${name}.creds` }).click();
    const file = await download;
    expect(file.suggestedFilename()).toBe(`${name}.creds`);
    expect(readFileSync(await file.path(), 'utf8').trim()).toBe(shown.trim());
    await dialog.getByRole('button', { name: 'Done' }).click();

    const row = page.getByRole('row', { name: new RegExp(name) });
    await row.getByText('Valid').waitFor();
    await until(async () => expect(await page.getByText('BEGIN').count()).toBe(0));
    await row.getByRole('button', { name: `Revoke ${name}` }).click();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('status').getByText('nats-server --signal reload').waitFor();
    await row.getByText('Revoked').waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await until(async () => expect(await row.getByRole('button').count()).toBe(0));
    await page.goto('/admin/audit');
    await page.getByText('credential.revoke').first().waitFor();

    await page.setViewportSize({ width: phone.width, height: phone.height });
    await page.goto('/workers');
    await waitUntilLoaded(page);
    await page.getByRole('list', { name: 'Credentials' }).getByText(name).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    expect(troubles).toEqual([]);
    await context.close();
  });
});
