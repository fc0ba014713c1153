import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openConsolePage, phone, seriousViolations, waitUntilLoaded } from '../../helpers/console/console-page.ts';
import { consoleWithAda } from '../../helpers/console/console-with-ada.ts';
import { inviteToConsole, openAs } from '../../helpers/console/open-as.ts';
import { chromiumPath } from '../../helpers/console/open-browser.ts';
import { withRegistry } from '../../helpers/cluster/with-registry.ts';
import { goodPassword } from '../../helpers/console/good-password.ts';
import { uniqueName } from '../../helpers/unique-name.ts';
import { until } from '../../helpers/until.ts';
import { startProtectedMcp, type ProtectedMcp } from '../../helpers/upstreams/start-protected-mcp.ts';

describe.skipIf(chromiumPath === undefined)('the page of connections', () => {
  let notes: ProtectedMcp;
  let registry: Record<string, string>;
  const here = consoleWithAda(async () => {
    notes = await startProtectedMcp();
    registry = withRegistry(JSON.stringify({ mcpServers: { notes: { url: notes.url, auth: 'oauth' } } }));
    const ingress = { ...registry, OAUTH_NETWORKS: '127.0.0.1' };
    return { workers: 0, engineUrl: 'http://127.0.0.1:1', ingress };
  });

  beforeAll(async () => {
    await here.cluster.addToolsWorker(registry);
  });
  afterAll(() => notes?.close());

  /** Requests that the pages of the authorization server make, a font among them. */
  function isOfNotes(trouble: string): boolean {
    return [notes.issuer, 'https://fonts.googleapis.com'].some((origin) => trouble.startsWith(`request: ${origin}/`));
  }

  async function signInAtNotes(page: Page, name: string): Promise<void> {
    await page.locator('input[name=login]').fill(name);
    await page.locator('input[name=password]').fill('any');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
  }

  it('connects a person by way of the authorization server, lets them use the tools, and disconnects them', async () => {
    const person = await inviteToConsole(here.ada, uniqueName('Bob'));
    const { page, context, troubles } = await openAs(here.browser, person);
    // The authorization server's pages ask for a font, and a machine without the internet waits for its name.
    await context.route('https://fonts.googleapis.com/**', (route) => route.abort());
    await page.goto('/');
    await page.getByRole('link', { name: 'Connections' }).click();
    const row = page.getByRole('row', { name: /notes/ });
    await row.getByText('Not connected').waitFor();

    await page.getByRole('button', { name: 'Connect to notes' }).click();
    await page.getByRole('link', { name: /Cancel/ }).click();
    await page.getByRole('alert').getByText('Access was not granted.').waitFor();
    expect(new URL(page.url()).search).toBe('');
    await row.getByText('Not connected').waitFor();

    await page.getByRole('button', { name: 'Connect to notes' }).click();
    await signInAtNotes(page, 'ada');
    await row.getByText('Connected', { exact: true }).waitFor();
    expect(page.url()).toBe(`${here.cluster.url}/connections`);
    expect(await seriousViolations(page)).toEqual([]);

    await page.goto('/tools');
    await page.getByText('notes_whoami').first().click();
    await page.getByRole('button', { name: /^Run/ }).click();
    await page.getByText('ada', { exact: true }).waitFor();

    const token = await notes.provider.AccessToken.find(notes.tokens.at(-1) ?? '');
    const { AccessToken, RefreshToken } = notes.provider;
    await Promise.all([AccessToken, RefreshToken].map((kind) => kind.revokeByGrantId(token?.grantId ?? '')));
    await page.getByRole('button', { name: /^Run/ }).click();
    await page.getByText(/has expired/).waitFor();
    await page.goto('/connections');
    await row.getByText('Expired').waitFor();

    await page.getByRole('button', { name: 'Connect to notes' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await row.getByText('Connected', { exact: true }).waitFor();
    await page.setViewportSize({ width: phone.width, height: phone.height });
    await waitUntilLoaded(page);
    await page.getByRole('list', { name: 'Connections' }).getByText('Connected', { exact: true }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Disconnect from notes' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click();
    await page.getByText('Not connected', { exact: true }).waitFor();
    await until(() => expect(notes.asked).toContain('/token/revocation'));

    expect(troubles.filter((trouble) => !isOfNotes(trouble))).toEqual([]);
    await context.close();
  });

  it('takes no answer of an authorization server that somebody else has asked for', async () => {
    const { page, context } = await openConsolePage(here.browser, here.cluster.url);
    await page.goto('/connections?state=forged&code=stolen');
    await page.getByLabel('E-mail').fill('ada@example.com');
    await page.getByRole('textbox', { name: 'Password' }).fill(goodPassword);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page
      .getByRole('alert')
      .getByText(/does not belong to an attempt of yours/)
      .waitFor();
    await page.getByText('Not connected', { exact: true }).waitFor();
    expect(new URL(page.url()).search).toBe('');
    await context.close();
  });
});
