// @module-tag chromium
import { describe, expect, it } from 'vitest';
import { openConsolePage, waitUntilLoaded } from '../../helpers/console/console-page.ts';
import { pressAndConfirm, signInAt, signOutAt } from '../../helpers/console/page-actions.ts';
import { expectNoViolation } from '../../helpers/console/page-checks.ts';
import { shareConsole } from '../../helpers/console/console-with-ada.ts';
import { goodPassword } from '../../helpers/console/good-password.ts';
import { openPageAs } from '../../helpers/console/open-as.ts';
import { until } from '../../helpers/until.ts';

describe('the account page', () => {
  const here = shareConsole();

  it('lists the sessions, ends another one, and changes the name', async () => {
    const { client, email } = await here.invite('Bob');
    const { page } = await openConsolePage(here.cluster.url);
    await page.goto('/account');
    await signInAt(page, email);
    const own = page.getByRole('row', { name: /This one/ });
    await own.getByText('Chrome on Linux').waitFor();
    await waitUntilLoaded(page);
    await expectNoViolation(page);
    await pressAndConfirm(page, 'End the session of A browser', 'End session');
    await until(async () => expect(await page.getByRole('dialog').count()).toBe(0));
    expect((await client.get('/session')).status).toBe(401);
    await page.getByLabel('Your name').fill('Robert');
    await page.getByRole('button', { name: 'Change name' }).click();
    await page.getByRole('button', { name: 'Account of Robert' }).waitFor();
  });

  it('switches alerts by e-mail off and on', async () => {
    const person = await here.invite('Eve');
    const { page } = await openPageAs(person, '/account');
    const wants = async () => (await person.client.get('/session')).body.user.alertEmails;
    const choice = page.getByRole('switch', { name: 'Send me alerts by e-mail' });
    await until(async () => expect(await choice.isChecked()).toBe(true));
    for (const wanted of [false, true]) {
      await choice.click();
      await until(async () => (await wants()) === wanted && (await choice.isChecked()) === wanted);
    }
  });

  it('changes the password and stays signed in', async () => {
    const person = await here.invite('Joe');
    const { page } = await openPageAs(person, '/account');
    await page.getByLabel('Current password').fill('wrong');
    await page.getByRole('textbox', { name: 'New password' }).fill('walnut orbit 17 gravel');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('This is not your password.').waitFor();
    await page.getByLabel('Current password').fill(goodPassword);
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('The password is changed').waitFor();
    await signOutAt(page);
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    await signInAt(page, person.email, 'walnut orbit 17 gravel');
    await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
    await until(() => expect(new URL(page.url()).pathname).toBe('/account'));
  });
});
