import { Secret, TOTP } from 'otpauth';
import type { Browser, Page } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  makeFirstAccount,
  openConsolePage,
  phone,
  seriousViolations,
  waitUntilLoaded,
} from '../../helpers/console/console-page.ts';
import { goodPassword } from '../../helpers/console/good-password.ts';
import { chromiumPath, openBrowser } from '../../helpers/console/open-browser.ts';
import { startConsole, type ConsoleCluster } from '../../helpers/console/start-console.ts';

describe.skipIf(chromiumPath === undefined)('a person with a second factor', () => {
  let cluster: ConsoleCluster;
  let browser: Browser;

  // Each run of the test begins with the link of the first account.
  beforeEach(async () => {
    [cluster, browser] = await Promise.all([
      startConsole({ workers: 0, engineUrl: 'http://127.0.0.1:1', ingress: { HOST: 'localhost' } }),
      openBrowser(),
    ]);
  });
  afterEach(async () => {
    await browser?.close();
    await cluster?.stop();
  });

  async function signIn(page: Page): Promise<void> {
    await page.goto('/');
    await page.getByLabel('E-mail').fill('ada@example.com');
    await page.getByRole('textbox', { name: 'Password' }).fill(goodPassword);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  }

  async function confirmPassword(page: Page): Promise<void> {
    const dialog = page.getByRole('dialog', { name: 'Second factor' });
    await dialog.getByRole('textbox', { name: 'Your password' }).fill(goodPassword);
    await dialog.getByRole('button', { name: 'Continue' }).click();
  }

  it('sets up an app and a passkey, and signs in with either, or with a recovery code once', async () => {
    // Passkeys are bound to a name, which an address is not.
    const origin = cluster.url.replace('127.0.0.1', 'localhost');
    const { page, context, troubles } = await openConsolePage(browser, origin);
    const devtools = await context.newCDPSession(page);
    await devtools.send('WebAuthn.enable');
    await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    await makeFirstAccount(page, cluster.firstLink);
    await page.goto('/account');
    await waitUntilLoaded(page);
    await page.getByRole('button', { name: 'Set up an authenticator app' }).click();
    await confirmPassword(page);
    const shown = await page.getByRole('dialog', { name: 'Second factor' }).locator('code').textContent();
    const secret = Secret.fromBase32(shown ?? '');
    expect(await page.getByRole('img', { name: 'QR code with the secret below' }).isVisible()).toBe(true);
    expect(await seriousViolations(page)).toEqual([]);
    const totp = new TOTP({ secret });
    await page.getByLabel('Code', { exact: true }).fill(totp.generate());
    await page.getByRole('button', { name: 'Confirm' }).click();
    const list = page.getByRole('list', { name: 'Recovery codes' }).locator('code');
    await list.nth(9).waitFor();
    const codes = await list.allTextContents();
    expect(codes).toHaveLength(10);
    await page.getByRole('button', { name: 'I have kept them' }).click();

    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByLabel('Name of the passkey').fill('My laptop');
    await confirmPassword(page);
    await page.getByText('My laptop, a passkey').waitFor();
    expect(await seriousViolations(page)).toEqual([]);

    await context.clearCookies();
    await signIn(page);
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();

    // On a phone, by code.
    const other = await openConsolePage(browser, origin, phone);
    await signIn(other.page);
    const field = other.page.getByLabel('Code of your authenticator app, or a recovery code');
    await field.fill('000000');
    await other.page.getByRole('button', { name: 'Continue' }).click();
    await other.page.getByRole('alert').getByText('This code is wrong').waitFor();
    expect(await seriousViolations(other.page)).toEqual([]);
    // The code of the set-up is used up: the one of the next 30 seconds counts already.
    await field.fill(totp.generate({ timestamp: Date.now() + 30_000 }));
    await other.page.getByRole('button', { name: 'Continue' }).click();
    await other.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();

    for (const works of [true, false]) {
      await other.context.clearCookies();
      await signIn(other.page);
      await field.fill(codes[0] ?? '');
      await other.page.getByRole('button', { name: 'Continue' }).click();
      if (works) await other.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      else await other.page.getByRole('alert').getByText('This code is wrong').waitFor();
    }
    expect([...troubles, ...other.troubles]).toEqual([]);
  });
});
