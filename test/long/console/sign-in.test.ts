// @module-tag chromium
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { openKeyStore } from '../../helpers/accounts/open-key-store.ts';
import { withRegistry } from '../../helpers/cluster/with-registry.ts';
import { openConsolePage, phone, wide } from '../../helpers/console/console-page.ts';
import { chooseAction, signInAt, signOutAt } from '../../helpers/console/page-actions.ts';
import { expectNoViolation } from '../../helpers/console/page-checks.ts';
import { shareConsole } from '../../helpers/console/console-with-ada.ts';
import { openAs } from '../../helpers/console/open-as.ts';
import { passProvider } from '../../helpers/console/pass-provider.ts';
import { loginClient, startLoginProvider, type LoginProvider } from '../../helpers/upstreams/start-login-provider.ts';
import { until } from '../../helpers/until.ts';

describe('the sign-in page', () => {
  const here = shareConsole();
  let origin: string;
  let provider: LoginProvider;
  let setLocalAccounts: (isOn: boolean) => Promise<void>;

  beforeAll(async () => {
    const registry = withRegistry('{}');
    ({ url: origin } = await here.cluster.addIngress({ ...registry, COMPANY_SECRET: loginClient.secret }));
    provider = await startLoginProvider([`${origin}/console/api/oidc/company/callback`]);
    const company = {
      name: 'company',
      label: 'Example Corp',
      issuer: provider.issuer,
      client_id: loginClient.id,
      client_secret_env: 'COMPANY_SECRET',
      groups: [{ group: 'scientists', teams: ['Research'] }],
    };
    setLocalAccounts = async (isOn) => {
      const sign_in = { providers: [company], local_accounts: isOn };
      writeFileSync(registry['ROUTER_CONFIG'] ?? '', JSON.stringify({ sign_in }));
      await until(async () => {
        const text = await (await fetch(`${origin}/console/api/sign-in`)).text();
        return text.includes('Example') && text.includes(`"localAccounts":${isOn}`);
      });
    };
    await setLocalAccounts(true);
  });
  afterAll(() => provider?.close());

  /** A name of another machine, as far as the browser knows. */
  const far = (): string => origin.replace('127.0.0.1', 'router.test');
  const openPage = async (look = wide): Promise<Page> =>
    (await openConsolePage(origin, { look, visits: [provider.issuer, far()] })).page;

  /** Somebody whom the company lets in. */
  function employ(login: string, name: string) {
    const colleague = { name, email: `${login}@example.org`, email_verified: true, groups: ['scientists'] };
    provider.accounts.set(login, colleague);
    return colleague;
  }

  async function signInAtProvider(page: Page, name: string): Promise<void> {
    await page.getByRole('link', { name: 'Sign in with Example Corp' }).click();
    await passProvider(page, name);
  }

  async function reachUsage(page: Page, name: string): Promise<void> {
    await page.goto('/usage');
    await signInAtProvider(page, name);
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
  }

  it('lets a colleague in by group, shows the page that they asked for, and signs them out there too', async () => {
    const page = await openPage(phone);
    employ('grace', 'Grace Hopper');
    await page.goto('/usage?by=model');
    await page.getByRole('link', { name: 'Sign in with Example Corp' }).waitFor();
    await expectNoViolation(page);
    await signInAtProvider(page, 'grace');
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
    await until(() => expect(new URL(page.url()).search).toBe('?by=model'));
    await page.goto('/account');
    await page.getByText('Grace Hopper').first().waitFor();
    // There is no password to change.
    expect(await page.getByRole('heading', { name: 'Password' }).count()).toBe(0);
    await signOutAt(page);
    await page.waitForURL(`${provider.issuer}/**`);
  });

  it('comes back, on whatever page, for somebody who is blocked at the provider', async () => {
    const page = await openPage();
    employ('joan', 'Joan Clarke');
    provider.setLifetime(1);
    onTestFinished(() => provider.setLifetime(3_600));
    await reachUsage(page, 'joan');
    // The answer of the provider ends after a second, and is given again.
    await sleep(1_500);
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
    provider.accounts.delete('joan');
    await sleep(1_500);
    await page.goto('/keys');
    await page.getByRole('link', { name: 'Sign in with Example Corp' }).waitFor();
    await until(async () => expect(await page.getByRole('link', { name: 'API keys' }).count()).toBe(0));
  });

  it('is shown, with the reason, to somebody whose provider has not answered for too long, until it answers', async () => {
    const page = await openPage();
    const mary = employ('mary', 'Mary Shaw');
    await reachUsage(page, 'mary');
    const { accounts, connection } = await openKeyStore(inject('redisUrl'), `${here.cluster.prefix}:`);
    const { id = '' } = (await accounts.users.findByEmail(mary.email)) ?? {};
    await connection.redis.hset(`${here.cluster.prefix}:external-account:${id}`, 'goodUntil', Date.now() - 3_600_001);
    provider.break(true);
    onTestFinished(() => provider.break(false));
    await page.reload();
    const alert = page.getByRole('alert').filter({ hasText: 'Your identity provider cannot be asked about you' });
    await alert.waitFor();
    await page.getByRole('link', { name: 'Sign in with Example Corp' }).waitFor();
    await expectNoViolation(page);
    provider.break(false);
    await alert.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
  });

  it('says on a page without TLS what cannot be done there, and not on this machine', async () => {
    const { page } = await openConsolePage(far(), { look: phone });
    await page.goto('/');
    await page.getByRole('note').getByText('Your password can be read on the way.').waitFor();
    await expectNoViolation(page);
    await signInAt(page, 'ada@example.com');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.goto('/account');
    await page.getByRole('note').getByText('Browsers have passkeys').waitFor();
    expect(await page.getByRole('button', { name: 'Add a passkey' }).isDisabled()).toBe(true);
    const near = await openPage();
    await near.goto('/');
    await near.getByLabel('E-mail').waitFor();
    expect(await near.getByRole('note').count()).toBe(0);
  });

  it('shows the console to somebody who is signed in when the answer of the provider comes again', async () => {
    const page = await openPage();
    employ('hedy', 'Hedy Lamarr');
    const answers: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/oidc/company/callback?')) answers.push(request.url());
    });
    await reachUsage(page, 'hedy');
    expect(answers).toHaveLength(1);
    await page.goto(answers[0] ?? '');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await until(() => expect(new URL(page.url()).search).toBe(''));
    expect(await page.getByRole('alert').count()).toBe(0);
    // Nor is the failure shown to whoever comes next.
    await signOutAt(page);
    await page.waitForURL(`${provider.issuer}/**`);
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('lets in with another account at the provider whoever an administrator has unlinked, and nobody before', async () => {
    const [grete, again] = [await openPage(), await openPage()];
    const { page: ada } = await openAs(here.ada, { origin });
    provider.accounts.set('grete-2', employ('grete', 'Grete Hermann'));
    await reachUsage(grete, 'grete');
    await again.goto('/usage');
    await signInAtProvider(again, 'grete-2');
    await again.getByRole('alert').getByText('ask an administrator to unlink it').waitFor();
    await ada.goto('/admin/people?search=grete');
    await chooseAction(ada, 'Grete Hermann', 'Unlink from the provider');
    const dialog = ada.getByRole('dialog');
    await dialog.getByText('Unlink Grete Hermann from company?').waitFor();
    await expectNoViolation(ada);
    await dialog.getByRole('button', { name: 'Unlink from the provider' }).click();
    await dialog.waitFor({ state: 'hidden' });
    for (const name of ['Grete Hermann', 'Ada']) {
      await ada.goto(`/admin/people?search=${name}`);
      await ada.getByRole('button', { name: `Actions for ${name}`, exact: true }).click();
      await ada.getByRole('menuitem', { name: 'Usage' }).waitFor();
      expect(await ada.getByRole('menuitem', { name: 'Unlink from the provider' }).count()).toBe(0);
      await ada.keyboard.press('Escape');
      await ada.getByRole('menuitem', { name: 'Usage' }).waitFor({ state: 'hidden' });
    }
    await grete.reload();
    await grete.getByRole('link', { name: 'Sign in with Example Corp' }).waitFor();
    await again.goto('/usage');
    await again.getByRole('link', { name: 'Sign in with Example Corp' }).click();
    await again.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
  });

  it('leads somebody who is signed in to the page, not to the provider, by a link of another site', async () => {
    const page = await openPage();
    const start = `${origin}/console/api/oidc/company/start?to=/usage`;
    const follow = async (): Promise<void> => {
      await page.goto(far());
      await page.getByLabel('E-mail').waitFor();
      await page.evaluate(`window.location.assign(${JSON.stringify(start)})`);
    };
    await follow();
    await page.waitForURL(`${provider.issuer}/**`);
    await page.goto('/');
    await signInAt(page, 'ada@example.com');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await follow();
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
    expect(await page.getByRole('button', { name: 'Account of Ada' }).count()).toBe(1);
  });

  it('says why somebody may not come in, and has the form for everybody else', async () => {
    const page = await openPage();
    provider.accounts.set('mallory', { name: 'Mallory', email: 'mallory@evil.org', email_verified: true, groups: [] });
    await page.goto('/');
    await signInAtProvider(page, 'mallory');
    await page.getByRole('alert').getByText('Your account may not come in here.').waitFor();
    await page.goto('/console/api/oidc/gone/start');
    await page.getByRole('alert').getByText('There is no such way in any more.').waitFor();
    await expectNoViolation(page);
    await signInAt(page, 'ada@example.com');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  });

  it('says why to somebody whom a password has signed in when local accounts are switched off', async () => {
    const signIn = async (page: Page): Promise<void> => {
      await page.goto('/usage');
      await signInAt(page, 'ada@example.com');
      await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
    };
    const [page, stranger] = [await openPage(), await openPage()];
    await signIn(page);
    onTestFinished(() => setLocalAccounts(true));
    await setLocalAccounts(false);
    const sentence = page.getByRole('alert').getByText('sign in here with their company account only');
    await page.getByRole('link', { name: 'API keys' }).click();
    await sentence.waitFor();
    expect(await page.getByLabel('E-mail').count()).toBe(0);
    await expectNoViolation(page);
    await page.reload();
    await sentence.waitFor();
    await stranger.goto('/');
    await stranger.getByRole('link', { name: 'Sign in with Example Corp' }).waitFor();
    expect(await stranger.getByRole('alert').count()).toBe(0);
  });
});
