// @module-tag chromium
import { beforeAll, describe, expect, it } from 'vitest';
import { openConsolePage, phone, waitUntilLoaded } from '../../helpers/console/console-page.ts';
import { pressAndConfirm, signInAt } from '../../helpers/console/page-actions.ts';
import { expectNoViolation } from '../../helpers/console/page-checks.ts';
import { shareConsole } from '../../helpers/console/console-with-ada.ts';
import { openPageAs } from '../../helpers/console/open-as.ts';
import { passProvider } from '../../helpers/console/pass-provider.ts';
import { withRegistry } from '../../helpers/cluster/with-registry.ts';
import { until } from '../../helpers/until.ts';
import { startProtectedMcp } from '../../helpers/upstreams/start-protected-mcp.ts';
import { useStarted } from '../../helpers/use-started.ts';

describe('the page of connections', () => {
  let origin: string;
  const here = shareConsole();

  const notes = useStarted(() => startProtectedMcp());
  beforeAll(async () => {
    const registry = withRegistry(JSON.stringify({ mcpServers: { notes: { url: notes.url, auth: 'oauth' } } }));
    ({ url: origin } = await here.cluster.addIngress({ ...registry, OAUTH_NETWORKS: '127.0.0.1' }));
    await here.cluster.addToolsWorker(registry);
  });

  it('connects a person by way of the authorization server, lets them use the tools, and disconnects them', async () => {
    const { page } = await openPageAs(await here.invite('Bob'), '/', { origin, visits: [notes.issuer] });
    await page.getByRole('link', { name: 'Connections' }).click();
    const row = page.getByRole('row', { name: /notes/ });
    await row.getByText('Not connected').waitFor();

    await page.getByRole('button', { name: 'Connect to notes' }).click();
    await page.getByRole('link', { name: /Cancel/ }).click();
    await page.getByRole('alert').getByText('Access was not granted.').waitFor();
    expect(new URL(page.url()).search).toBe('');
    await row.getByText('Not connected').waitFor();

    await page.getByRole('button', { name: 'Connect to notes' }).click();
    await passProvider(page, 'ada');
    await row.getByText('Connected', { exact: true }).waitFor();
    expect(page.url()).toBe(`${origin}/connections`);
    await expectNoViolation(page);

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
    await page.setViewportSize(phone);
    await waitUntilLoaded(page);
    await page.getByRole('list', { name: 'Connections' }).getByText('Connected', { exact: true }).waitFor();
    await expectNoViolation(page);
    await pressAndConfirm(page, 'Disconnect from notes', 'Disconnect');
    await page.getByText('Not connected', { exact: true }).waitFor();
    await until(() => expect(notes.asked).toContain('/token/revocation'));
  });

  it('takes no answer of an authorization server that somebody else has asked for', async () => {
    const { page } = await openConsolePage(origin);
    await page.goto('/connections?state=forged&code=stolen');
    await signInAt(page, here.ada.email);
    await page.getByRole('alert').getByText('does not belong to an attempt of yours').waitFor();
    await page.getByText('Not connected', { exact: true }).waitFor();
    expect(new URL(page.url()).search).toBe('');
  });
});
