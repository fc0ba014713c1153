import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ConsoleClient } from '../../helpers/console/console-client.ts';
import { consoleWithAda } from '../../helpers/console/console-with-ada.ts';
import { goodPassword } from '../../helpers/console/good-password.ts';
import { joinConsole, openAs, type SignedInPerson } from '../../helpers/console/open-as.ts';
import { chromiumPath } from '../../helpers/console/open-browser.ts';
import { until } from '../../helpers/until.ts';

describe.skipIf(chromiumPath === undefined)('people who share a browser', () => {
  const here = consoleWithAda({ engine: { DEMO_TOKENS_PER_SECOND: '0' } });

  async function join(name: string): Promise<SignedInPerson> {
    const { body } = await here.ada.client.post('/invitations', { email: `${name}@example.com`, role: 'member' });
    return joinConsole(new ConsoleClient(here.cluster.url), String(body.link), name);
  }

  /** Opens a tab in which a person has said something that is kept. */
  async function openWithTalk(person: SignedInPerson) {
    const watched = await openAs(here.browser, person);
    onTestFinished(() => watched.context.close());
    await watched.page.goto('/playground?model=demo');
    await watched.page.getByLabel('Your message', { exact: true }).fill('Of my secret harbour.');
    await watched.page.keyboard.press('Enter');
    await watched.page.getByText('Saved in this browser.').waitFor();
    return watched;
  }

  const databases = (page: Page): Promise<unknown> =>
    page.evaluate(`indexedDB.databases().then((all) => all.map(({ name }) => name))`);

  it('do not see in a tab that was left open what the one before has said and looked at', async () => {
    const [bob, eve] = [await join('Bob'), await join('Eve')];
    const { page, context } = await openWithTalk(bob);
    expect(await page.getByText('Of my secret harbour.').count()).toBeGreaterThan(0);
    await context.addCookies(
      (await context.cookies()).map((each) => ({ ...each, value: eve.client.cookie?.split('=')[1] ?? '' })),
    );
    // As when the tab is shown again.
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`);
    await page.getByRole('button', { name: 'Account of Eve' }).waitFor({ timeout: 10_000 });
    await page.getByText('Start a conversation').waitFor({ timeout: 10_000 });
    expect(await page.getByText('Of my secret harbour.').count()).toBe(0);
    await until(() => expect(new URL(page.url()).searchParams.get('conversation')).toBeNull(), 10_000);
    await page.getByRole('button', { name: 'Saved conversations' }).click();
    await page.getByText('No saved conversations').waitFor();
  });

  it('leave no conversations there when they sign out everywhere, or delete their accounts', async () => {
    const bea = await join('Bea');
    const { page } = await openWithTalk(bea);
    expect(await databases(page)).toEqual([`rtr-conversations-${bea.id}`]);
    await page.getByRole('button', { name: 'Account of Bea' }).click();
    await page.getByRole('menuitem', { name: 'Account and password' }).click();
    await page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await until(async () => expect(await databases(page)).toEqual([]), 10_000);
    const cleo = await join('Cleo');
    const { page: theirs } = await openWithTalk(cleo);
    await theirs.goto('/account');
    await theirs.getByRole('button', { name: 'Delete my account' }).click();
    await theirs.getByRole('dialog').getByLabel('Your password').fill(goodPassword);
    await theirs.getByRole('dialog').getByRole('button', { name: 'Delete my account' }).click();
    await theirs.getByRole('heading', { name: 'Sign in' }).waitFor();
    await until(async () => expect(await databases(theirs)).toEqual([]), 10_000);
  });
});
