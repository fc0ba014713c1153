// @module-tag chromium
import { Secret, TOTP } from 'otpauth';
import { describe, expect, it } from 'vitest';
import { setUpApp } from '../../helpers/console/authenticator-app.ts';
import { openConsolePage, phone, waitUntilLoaded } from '../../helpers/console/console-page.ts';
import { signInAt } from '../../helpers/console/page-actions.ts';
import { expectNoViolation } from '../../helpers/console/page-checks.ts';
import { ownConsole } from '../../helpers/console/console-with-ada.ts';
import { goodPassword } from '../../helpers/console/good-password.ts';
import { openAs, openPageAs } from '../../helpers/console/open-as.ts';
import { until } from '../../helpers/until.ts';

describe('a person with a second factor', () => {
  // The last test demands one of everybody.
  const here = ownConsole({ workers: 0, engineUrl: 'http://127.0.0.1:1' });

  it('sets up an app and a passkey, and signs in with either, or with a recovery code once', async () => {
    // Passkeys are bound to a name, which an address is not.
    const origin = here.cluster.url.replace('127.0.0.1', 'localhost');
    const person = await here.invite('Bob');
    const { page, context } = await openAs(person, { origin, isAlone: true });
    const devtools = await context.newCDPSession(page);
    await devtools.send('WebAuthn.enable');
    const kind = { protocol: 'ctap2', transport: 'internal', hasResidentKey: true } as const;
    const verification = { hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true };
    await devtools.send('WebAuthn.addVirtualAuthenticator', { options: { ...kind, ...verification } });
    await page.goto('/account');
    await waitUntilLoaded(page);
    const dialog = page.getByRole('dialog', { name: 'Second factor' });
    const confirmPassword = async (): Promise<void> => {
      await dialog.getByRole('textbox', { name: 'Your password' }).fill(goodPassword);
      await dialog.getByRole('button', { name: 'Continue' }).click();
    };
    await page.getByRole('button', { name: 'Set up an authenticator app' }).click();
    await confirmPassword();
    const secret = Secret.fromBase32((await dialog.locator('code').textContent()) ?? '');
    expect(await page.getByRole('img', { name: 'QR code with the secret below' }).isVisible()).toBe(true);
    await expectNoViolation(page);
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
    await confirmPassword();
    await page.getByText('My laptop, a passkey').waitFor();
    await expectNoViolation(page);

    await context.clearCookies();
    await page.goto('/');
    await signInAt(page, person.email);
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();

    // On a phone, by code.
    const other = await openConsolePage(origin, { look: phone });
    const field = other.page.getByLabel('Code of your authenticator app, or a recovery code');
    const enter = async (code: string): Promise<void> => {
      await field.fill(code);
      await other.page.getByRole('button', { name: 'Continue' }).click();
    };
    const isWrong = (): Promise<void> => other.page.getByRole('alert').getByText('This code is wrong').waitFor();
    const isIn = (): Promise<void> => other.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await other.page.goto('/');
    await signInAt(other.page, person.email);
    await enter('000000');
    await isWrong();
    await expectNoViolation(other.page);
    // The code of the set-up is used up: the one of the next 30 seconds counts already.
    await enter(totp.generate({ timestamp: Date.now() + 30_000 }));
    await isIn();
    for (const isSeen of [isIn, isWrong]) {
      await other.context.clearCookies();
      await other.page.goto('/');
      await signInAt(other.page, person.email);
      await enter(codes[0] ?? '');
      await isSeen();
    }
  });

  it('demanded of them sees the account page alone before', async () => {
    const carol = await here.invite('Carol');
    const [{ client: ada }, { url }] = [here.ada, here.cluster];
    await ada.patch('/settings', { requireSecondFactor: true });
    const { page } = await openPageAs(carol, '/account', { look: phone });
    await page.getByText('Your administrator demands a second factor.').waitFor();
    await expectNoViolation(page);
    // Nothing that the API refuses until then, and a word on what goes on.
    await page.getByText('programs that you have signed in, keep working').waitFor();
    await waitUntilLoaded(page);
    const headings = page.getByRole('heading', { level: 2 });
    const shown = ['Password', 'Second factor', 'Sessions', 'Sign out everywhere'];
    await until(async () => expect(await headings.allTextContents()).toEqual(shown));
    expect(await page.getByText('Could not load').count()).toBe(0);
    await page.goto('/keys');
    await page.waitForURL(`${url}/account`);
    await page.getByText('Your administrator demands a second factor.').waitFor();
    // Ada has none herself: what she demands holds for her as well.
    expect((await ada.get('/settings')).status).toBe(403);
    await setUpApp(carol.client);
    await page.reload();
    await page.getByRole('heading', { name: 'Signed-in programs', exact: true }).waitFor();
    await page.getByText('No signed-in programs').waitFor();
  });
});
