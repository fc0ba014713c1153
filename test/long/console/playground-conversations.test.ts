// @module-tag chromium
import type { BrowserContext, Locator, Page, Response } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { type WatchedPage } from '../../helpers/console/console-page.ts';
import { pressAndConfirm, signInAt, signOutAt } from '../../helpers/console/page-actions.ts';
import { expectNoViolation } from '../../helpers/console/page-checks.ts';
import { shareConsole } from '../../helpers/console/console-with-ada.ts';
import { ConsoleClient } from '../../helpers/console/console-client.ts';
import { goodPassword } from '../../helpers/console/good-password.ts';
import { openAs, type KnownPerson } from '../../helpers/console/open-as.ts';
import { answersOn, askAndWaitOn, askOn, chooseTool, say } from '../../helpers/console/playground-page.ts';
import { until } from '../../helpers/until.ts';

describe('conversations in the playground', () => {
  const here = shareConsole();
  /** Somebody with nothing yet, and their window. */
  let person: KnownPerson;
  let watched: WatchedPage;
  let page: Page;

  beforeEach(() => become('Joe'));

  async function become(name: string): Promise<void> {
    person = await here.invite(name);
    watched = await openAs(person, { isAlone: true });
    ({ page } = watched);
    await page.goto('/playground?model=demo');
  }

  const ask = (text: string): Promise<Locator> => askAndWaitOn(page, text);
  const isSaved = (): Promise<void> => page.getByText('Saved in this browser.').waitFor();
  /** Waits until the page has read the ledger's record of an answer. */
  const untilRecorded = async (): Promise<void> => {
    const isRecord = (response: Response): boolean => response.url().includes('/usage/requests/') && response.ok();
    await (await page.waitForResponse(isRecord)).finished();
  };
  const dialog = (): Locator => page.getByRole('dialog', { name: 'Saved conversations' });
  const openDialog = async (): Promise<void> => {
    await page.getByRole('button', { name: 'Saved conversations' }).click();
    await dialog().waitFor();
  };
  /** Opens the dialog, and waits until it shows these: they are kept a moment after they were said. */
  const expectSaved = async (check: (shown: string[]) => void): Promise<void> => {
    await openDialog();
    await until(async () => {
      const labels = await page.evaluate<string[]>(
        `[...document.querySelectorAll('[role=dialog] button[aria-label^="Open "]')].map((each) => each.ariaLabel)`,
      );
      check(labels.map((label) => label.replace('Open ', '')));
    });
  };
  const closeDialog = async (): Promise<void> => {
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'hidden' });
  };
  const startAgain = async (): Promise<void> => {
    await page.getByRole('button', { name: 'New conversation' }).click();
    await until(async () => expect(await answersOn(page).count()).toBe(0));
  };
  const databases = (): Promise<unknown> =>
    page.evaluate(`indexedDB.databases().then((all) => all.map(({ name }) => name))`);
  /** Puts another session into the browser. */
  const setSession = async (context: BrowserContext, { client }: KnownPerson): Promise<void> =>
    context.addCookies((await context.cookies()).map((each) => ({ ...each, value: client.sessionId })));

  it('are kept across reloads, by their first words, until they are renamed or deleted', async () => {
    await ask('Of ebb and flow.');
    await isSaved();
    await page.reload();
    await answersOn(page).getByText('tokens in').waitFor();
    await startAgain();
    await ask('Of harbours.');
    await expectSaved((shown) => expect(shown).toEqual(['Of harbours.', 'Of ebb and flow.']));
    await dialog().getByText('kept in this browser only').waitFor();
    await expectNoViolation(page);
    await dialog().getByRole('button', { name: 'Rename Of ebb and flow.' }).click();
    await dialog().getByRole('textbox', { name: 'Name' }).fill('Tides');
    await page.keyboard.press('Enter');
    await dialog().getByRole('button', { name: 'Open Tides' }).click();
    await page.getByRole('article', { name: 'You' }).getByText('Of ebb and flow.').waitFor();
    await expectSaved((shown) => expect(shown).toEqual(['Of harbours.', 'Tides']));
    await dialog().getByRole('button', { name: 'Delete Of harbours.' }).click();
    await page.getByRole('button', { name: 'Delete for good' }).click();
    await dialog().getByRole('button', { name: 'Open Of harbours.' }).waitFor({ state: 'detached' });
    await closeDialog();
    await expectSaved((shown) => expect(shown).toEqual(['Tides']));
  });

  it('are saved to the last word when the person goes to another page', async () => {
    const answer = await askOn(page, 'Of ebb and flow.\n[demo rate=20 tokens=200]');
    await until(async () => expect((await answer.locator('.prose').innerText()).length).toBeGreaterThan(200));
    const shown = await answer.locator('.prose').innerText();
    await page.getByRole('link', { name: 'Models' }).click();
    await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor();
    await page.goBack();
    await answersOn(page).locator('.prose').waitFor();
    const kept = await answersOn(page).locator('.prose').innerText();
    expect(kept.slice(0, shown.length)).toBe(shown);
  });

  it('are saved once the browser has space again', async () => {
    await page.evaluate(`{
      const { put } = IDBObjectStore.prototype;
      window.isFull = true;
      Object.assign(IDBObjectStore.prototype, {
        put(...input) {
          if (!window.isFull) return put.apply(this, input);
          throw new DOMException('The disk is full.', 'QuotaExceededError');
        },
      });
    }`);
    const recorded = untilRecorded();
    await ask('Of ebb and flow.');
    await recorded;
    await page.getByText('The disk is full.').waitFor();
    await answersOn(page).getByText('cost').waitFor();
    await page.evaluate('window.isFull = false');
    await page.getByRole('switch', { name: 'Think before answering' }).click();
    await isSaved();
    expect(await page.getByText('The disk is full.').count()).toBe(0);
  });

  it('are announced to other tabs when they are changed, and not when they are opened', async () => {
    for (const text of ['Of ebb and flow.', 'Of harbours.']) {
      const recorded = untilRecorded();
      await ask(text);
      await recorded;
      await isSaved();
      if (text === 'Of ebb and flow.') await startAgain();
    }
    await openDialog();
    await page.evaluate(`{
      window.messages = [];
      const channel = new BroadcastChannel('rtr-conversations-${person.id}');
      channel.addEventListener('message', ({ data }) => window.messages.push(data));
    }`);
    const messages = (): Promise<string[]> => page.evaluate<string[]>('window.messages');
    await dialog().getByRole('button', { name: 'Open Of ebb and flow.' }).click();
    await page.getByRole('article', { name: 'You' }).getByText('Of ebb and flow.').waitFor();
    await isSaved();
    await page.evaluate(`new BroadcastChannel('rtr-conversations-${person.id}').postMessage('opened')`);
    await until(async () => expect(await messages()).toContain('opened'));
    expect(await messages()).toEqual(['opened']);
    await ask('Go on.');
    await until(async () => expect(await messages()).toContain('changed'));
  });

  it('show the cost of an answer that was recorded while another one was shown', async () => {
    const held = Promise.withResolvers<void>();
    await page.route('**/console/api/usage/requests/*', async (route) => {
      await held.promise;
      await route.continue();
    });
    const requested = page.waitForRequest('**/console/api/usage/requests/*');
    await ask('Of ebb and flow.');
    await requested;
    await startAgain();
    const recorded = untilRecorded();
    held.resolve();
    await recorded;
    await openDialog();
    await dialog().getByRole('button', { name: 'Open Of ebb and flow.' }).click();
    await answersOn(page).getByText('cost').waitFor();
    expect(await answersOn(page).count()).toBe(1);
  });

  it('are changed by several tabs without undoing each other', async () => {
    await ask(say('begun'));
    await until(() => expect(new URL(page.url()).searchParams.get('conversation')).not.toBeNull());
    const [one, url] = [page, page.url()];
    const two = await watched.context.newPage();
    await two.goto(url);
    await answersOn(two).getByText('begun').waitFor();
    await ask(say('of the first tab'));
    page = two;
    await ask(say('of the second tab'));
    await until(() => expect(two.url()).not.toBe(url));
    for (const [shown, words] of [[one, 'of the first tab'] as const, [two, 'of the second tab'] as const]) {
      await shown.reload();
      const said = (): Promise<string[]> => answersOn(shown).locator('.prose').allInnerTexts();
      await until(async () => expect(await said()).toEqual(['begun', words]));
    }
  });

  it('are no more than a hundred, and none of another person or after the sign-out', async () => {
    await ask('The first one.');
    await until(() => expect(new URL(page.url()).searchParams.get('conversation')).not.toBeNull());
    await page.evaluate(manyHeads(person.id));
    await startAgain();
    await ask('The last one.');
    await expectSaved((kept) =>
      expect([kept.length, kept[0], kept.includes('The first one.')]).toEqual([100, 'The last one.', false]),
    );
    await closeDialog();
    // A session that ended is no sign-out.
    await setSession(watched.context, await here.invite('Eve'));
    await page.goto('/playground');
    await openDialog();
    await dialog().getByText('No saved conversations').waitFor();
    await setSession(watched.context, person);
    await page.goto('/playground');
    await expectSaved((kept) => expect(kept.length).toBe(100));
    await closeDialog();
    await signOutAt(page);
    await signInAt(page, person.email);
    await openDialog();
    await dialog().getByText('No saved conversations').waitFor();
  });

  it('do not come back with a late result of a tool', async () => {
    await here.cluster.addToolsWorker();
    await page.reload();
    const held = Promise.withResolvers<void>();
    await page.route('**/api/tools/v1/execute', async (route) => {
      await held.promise;
      await route.continue();
    });
    await chooseTool(page, 'calculator');
    await askOn(page, 'Use the tool calculator with expression "6*7".');
    const asked = page.waitForRequest('**/api/tools/v1/execute');
    await page.getByRole('button', { name: 'Run calculator' }).click();
    await asked;
    await page.getByRole('button', { name: 'New conversation' }).click();
    await askOn(page, 'Of harbours.');
    await isSaved();
    const answered = page.waitForResponse('**/api/tools/v1/execute');
    held.resolve();
    await (await answered).finished();
    await askOn(page, 'Of tides.');
    const said = page.getByRole('article', { name: 'You' });
    await until(async () => expect(await said.count()).toBe(2));
    const texts = ['Of harbours.', 'Of tides.'].map((text) => expect.stringContaining(text) as string);
    expect(await said.allInnerTexts()).toEqual(texts);
  });

  it('are not shown, in a tab that was left open, to whoever shares the browser', async () => {
    await ask('Of my secret harbour.');
    await isSaved();
    expect(await page.getByText('Of my secret harbour.').count()).toBeGreaterThan(0);
    const eve = await here.invite('Eve');
    await setSession(watched.context, eve);
    // As when the tab is shown again.
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`);
    await page.getByRole('button', { name: `Account of ${eve.name}` }).waitFor();
    await page.getByText('Start a conversation').waitFor();
    expect(await page.getByText('Of my secret harbour.').count()).toBe(0);
    await until(() => expect(new URL(page.url()).searchParams.get('conversation')).toBeNull());
    await openDialog();
    await page.getByText('No saved conversations').waitFor();
  });

  it('are gone after a sign-out everywhere, and with the account', async () => {
    await ask('Of my secret harbour.');
    await isSaved();
    expect(await databases()).toEqual([`rtr-conversations-${person.id}`]);
    await page.getByRole('button', { name: `Account of ${person.name}` }).click();
    await page.getByRole('menuitem', { name: 'Account and password' }).click();
    await pressAndConfirm(page, 'Sign out everywhere', 'Sign out everywhere');
    const expectGone = async (): Promise<void> => {
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      await until(async () => expect(await databases()).toEqual([]));
    };
    await expectGone();
    await become('Cleo');
    await ask('Of my secret harbour.');
    await isSaved();
    await page.goto('/account');
    await page.getByRole('button', { name: 'Delete my account' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete your account?' });
    const deleteWith = async (password: string): Promise<void> => {
      await dialog.getByRole('textbox', { name: 'Your password' }).fill(password);
      await dialog.getByRole('button', { name: 'Delete my account' }).click();
    };
    await deleteWith('wrong');
    await dialog.getByText('This is not your password.').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Delete my account' }).click();
    expect(await dialog.getByRole('textbox', { name: 'Your password' }).inputValue()).toBe('');
    expect(await dialog.getByText('This is not your password.').count()).toBe(0);
    await deleteWith(goodPassword);
    await expectGone();
    expect((await new ConsoleClient(here.cluster.url).signIn(person.email, goodPassword)).status).toBe(401);
  });
});

/** Code for a page: keeps 150 conversations of an hour ago for a person. */
function manyHeads(user: string): string {
  return `new Promise((resolve, reject) => {
    const opening = indexedDB.open('rtr-conversations-${user}');
    opening.onerror = reject;
    opening.onsuccess = () => {
      const transaction = opening.result.transaction('heads', 'readwrite');
      const heads = transaction.objectStore('heads');
      const all = heads.getAll();
      all.onsuccess = () => {
        for (const head of all.result) heads.put({ ...head, at: 1 + Date.now() - 7_200_000 }, head.id);
        for (let at = 0; at < 150; at += 1) {
          const id = 'old' + at;
          heads.put({ id, name: id, at: Date.now() - 3_600_000 + at, size: 10, revision: 1 }, id);
        }
      };
      transaction.oncomplete = () => { opening.result.close(); resolve(); };
      transaction.onabort = reject;
    };
  })`;
}
