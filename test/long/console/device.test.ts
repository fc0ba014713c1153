// @module-tag chromium
import { describe, expect, it } from 'vitest';
import { statusWith } from '../../helpers/clients/status-with.ts';
import { deviceGrant, postForm } from '../../helpers/clients/device-flow.ts';
import { openConsolePage, phone, waitUntilLoaded } from '../../helpers/console/console-page.ts';
import { pressAndConfirm, signInAt } from '../../helpers/console/page-actions.ts';
import { expectNoViolation } from '../../helpers/console/page-checks.ts';
import { shareConsole } from '../../helpers/console/console-with-ada.ts';
import { openPageAs } from '../../helpers/console/open-as.ts';
import { until } from '../../helpers/until.ts';

describe('a person in a browser', () => {
  const here = shareConsole();

  const begin = async () =>
    (await postForm(`${here.cluster.url}/oauth/device_authorization`, { client_id: 'rtr' })).body;
  const poll = (start: { device_code: string }) =>
    postForm(`${here.cluster.url}/oauth/token`, { grant_type: deviceGrant, device_code: start.device_code });

  it('signs in first, then approves the program that led there, and signs it out again', async () => {
    const { email } = await here.invite('Grace');
    const start = await begin();
    // A browser without a session is led to the page after the sign-in.
    const { page } = await openConsolePage(here.cluster.url, { look: phone });
    await page.goto(start.verification_uri_complete);
    await signInAt(page, email);
    // A link alone does not count as an attempt: the code in it is in the form, and the person goes on.
    const code = page.getByLabel('Code that the program shows');
    await code.waitFor();
    expect(await code.inputValue()).toBe(start.user_code);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: 'rtr' }).waitFor();
    await page.getByText(start.user_code).waitFor();
    await expectNoViolation(page);
    // Nothing is approved before somebody presses the button.
    expect((await poll(start)).body).toMatchObject({ error: 'authorization_pending' });
    await page.getByRole('button', { name: 'Sign in the program' }).click();
    await page.getByText('The program is signed in.').waitFor();
    let token = '';
    await until(async () => {
      token = String((await poll(start)).body.access_token ?? '');
      return token !== '';
    });
    expect(await statusWith(here.cluster.url, token)).toBe(200);
    await page.goto('/account');
    await waitUntilLoaded(page);
    await expectNoViolation(page);
    await pressAndConfirm(page, 'Sign out rtr', 'Sign out');
    await until(async () => (await statusWith(here.cluster.url, token)) === 401);
    await page.getByText(`npx ${here.cluster.url}/rtr.tgz login ${here.cluster.url}`).waitFor();
  });

  it('denies a program, and is told when a code is wrong', async () => {
    const start = await begin();
    const { page } = await openPageAs(here.ada, '/device');
    await page.getByLabel('Code that the program shows').fill('bbbb-bbbb');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('There is no program with this code').waitFor();
    await page.getByLabel('Code that the program shows').fill(start.user_code.toLowerCase());
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByText('The program was not signed in.').waitFor();
    expect((await poll(start)).body).toMatchObject({ error: 'access_denied' });
  });

  it('is told why a program could not be looked up, which is not that its code is wrong', async () => {
    const guesser = await here.invite('Guesser');
    const start = await begin();
    const { page } = await openPageAs(guesser, '/device');
    const alert = page.getByRole('alert');
    const lookUp = async (): Promise<void> => {
      await page.getByLabel('Code that the program shows').fill(start.user_code);
      await page.getByRole('button', { name: 'Continue' }).click();
      await alert.getByText('The program could not be looked up').waitFor();
    };
    // An ingress of an earlier release, during an update, and none at all.
    const json = { error: { code: 'not_found', message: 'There is nothing here.' } };
    await page.route('**/devices/*/find', (route) => route.fulfill({ status: 404, json }));
    await lookUp();
    await alert.getByText('The router is being updated. Reload this page, and try again.').waitFor();
    await page.unrouteAll();
    await page.route('**/devices/*/find', (route) => route.abort());
    await lookUp();
    await alert.getByText('The router does not answer.').waitFor();
    await page.unrouteAll();
    for (let guess = 0; guess < 10; guess++) await guesser.client.post('/devices/BBBB-BBBB/find');
    await lookUp();
    await alert.getByText('Too many wrong codes. Try again in 15 minutes.', { exact: true }).waitFor();
    expect(await alert.textContent()).not.toContain('no program');
    await expectNoViolation(page);
  });
});
