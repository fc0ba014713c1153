import type { Locator, Page } from 'playwright-core';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  phone,
  seriousViolations,
  wide,
  type LookOptions,
  type WatchedPage,
} from '../../helpers/console/console-page.ts';
import { consoleWithAda } from '../../helpers/console/console-with-ada.ts';
import { goodPassword } from '../../helpers/console/good-password.ts';
import { inviteToConsole, openAs, type SignedInPerson } from '../../helpers/console/open-as.ts';
import { chromiumPath } from '../../helpers/console/open-browser.ts';
import { uniqueName } from '../../helpers/unique-name.ts';
import { until } from '../../helpers/until.ts';

/** A prompt to which the demo engine answers a text. */
const say = (text: string): string => `[demo say ${JSON.stringify(text)}]`;

interface OpenOptions {
  look?: LookOptions;
  person?: SignedInPerson;
}

describe.skipIf(chromiumPath === undefined)('the playground', () => {
  const here = consoleWithAda({ engine: { DEMO_MODELS: 'demo,other', DEMO_TOKENS_PER_SECOND: '0' } });
  let watched: WatchedPage;
  let page: Page;

  beforeAll(async () => {
    await here.cluster.addToolsWorker();
    for (const model of ['demo', 'other'])
      await here.ada.client.put(`/prices/${model}`, { input: 1_000, output: 2_000 });
  });

  const open = async (path: string, { look = wide, person = here.ada }: OpenOptions = {}): Promise<void> => {
    watched = await openAs(here.browser, person, { look });
    ({ page } = watched);
    await page.goto(path);
  };
  beforeEach(() => open('/playground?model=demo'));
  afterEach(async () => {
    expect(watched.troubles).toEqual([]);
    await watched.context.close();
  });

  const answers = (place: Page | Locator = page): Locator => place.getByRole('article', { name: 'Model' });
  /** Says something; returns the next answer, of the first model where there are two. */
  const ask = async (text: string): Promise<Locator> => {
    const before = await answers().count();
    await page.getByLabel('Your message', { exact: true }).fill(text);
    await page.keyboard.press('Control+Enter');
    return answers().nth(before);
  };
  const startAgain = async (): Promise<void> => {
    await page.getByRole('button', { name: 'New conversation' }).click();
    await until(async () => expect(await answers().count()).toBe(0));
  };
  const untilModels = (models: string[]): Promise<void> =>
    until(() => expect(new URL(page.url()).searchParams.getAll('model')).toEqual(models));
  const proseOf = (answer: Locator): Promise<string> => answer.locator('.prose').innerText();
  /** Says something and waits until the answer is over. */
  const askAndWait = async (text: string): Promise<Locator> => {
    const answer = await ask(text);
    await answer.getByText(/tokens in/).waitFor();
    return answer;
  };

  describe('speaks the Responses format', () => {
    beforeEach(() => page.getByRole('radiogroup', { name: 'Format of the request' }).getByText('Responses').click());

    it('with thinking, several turns, and the request as curl', async () => {
      await page.getByRole('switch', { name: 'Think before answering' }).click();
      const first = await askAndWait('What is the tide?');
      await first.getByText('Thinking', { exact: true }).waitFor();
      const sent = page.waitForRequest((request) => request.url().endsWith('/api/openai/responses'));
      await askAndWait('And again.');
      const { input } = (await sent).postDataJSON() as { input: { type: string }[] };
      expect(input.map(({ type }) => type)).toEqual(['message', 'reasoning', 'message', 'message']);
      await page.getByRole('button', { name: 'Show as curl' }).click();
      const code = await page.getByRole('dialog').getByRole('group', { name: 'the request' }).innerText();
      expect(code).toMatch(/\/api\/openai\/responses[^]*"input": \[[^]*And again\./);
    });

    it('with tools', async () => {
      await page.getByRole('combobox', { name: 'Tools of this router' }).click();
      await page.getByRole('option', { name: 'calculator' }).click();
      await page.keyboard.press('Escape');
      await ask('Use the tool calculator with expression "6*7".');
      await page.getByRole('button', { name: 'Run calculator' }).click();
      await until(async () => expect(await answers().count()).toBe(2), 10_000);
      await answers()
        .last()
        .getByText(/tokens in/)
        .waitFor();
      expect(await proseOf(answers().last())).toContain('42');
    });

    it('and shows failures', async () => {
      const answer = await ask('Hello!\n[demo fault=drop after=3]');
      const alert = answer.getByRole('alert');
      await alert.getByText('The answer failed').waitFor();
      expect(await alert.getByRole('button', { name: 'Try again' }).count()).toBe(1);
    });
  });

  it('shows Markdown: headings, lists, tables, and code with its language and a button that copies it', async () => {
    await watched.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const text =
      '# Tides\n\n- ebb\n- flow\n\n| port | m |\n|:--|--:|\n| Brest | 7.1 |\n\n```ts\nconst tide = 1;\n```\n';
    const answer = await askAndWait(say(text));
    await answer.getByRole('heading', { level: 2, name: 'Tides' }).waitFor();
    await until(async () => expect(await answer.getByRole('listitem').allInnerTexts()).toEqual(['ebb', 'flow']));
    await answer.getByRole('group', { name: 'Table' }).getByRole('cell', { name: 'Brest' }).waitFor();
    await answer.getByText('ts', { exact: true }).waitFor();
    await answer.getByRole('button', { name: 'Copy code' }).click();
    const copied = (): Promise<unknown> => page.evaluate('navigator.clipboard.readText()');
    await until(async () => expect(await copied()).toBe('const tide = 1;'));
    expect(await seriousViolations(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await seriousViolations(page)).toEqual([]);
  });

  it('stops an answer with Escape, keeps what came, and goes on', async () => {
    const answer = await ask('Slowly.\n[demo rate=20 tokens=500]');
    await answer.locator('.prose').waitFor();
    await page.keyboard.press('Escape');
    await answer.getByText('You stopped the answer.').waitFor();
    expect((await proseOf(answer)).length).toBeGreaterThan(0);
    await answer.getByText(/first token .* total/).waitFor();
    await until(async () => expect(await page.getByRole('button', { name: 'Stop' }).count()).toBe(0));
    await askAndWait('And now?');
    expect(await answers().count()).toBe(2);
  });

  it('sends an earlier message again with another text, and drops what came after it', async () => {
    await askAndWait(say('one'));
    await askAndWait(say('two'));
    await page.getByRole('article', { name: 'You' }).first().getByRole('button', { name: 'Edit' }).click();
    const field = page.getByLabel('Your message, changed');
    expect(await field.inputValue()).toBe(say('one'));
    await field.fill(say('other'));
    await page.getByRole('button', { name: 'Send from here' }).click();
    await until(async () => expect(await answers().locator('.prose').allInnerTexts()).toEqual(['other']), 10_000);
    await until(async () => expect(await page.getByRole('article', { name: 'You' }).count()).toBe(1));
  });

  it('answers again, also with another model, which then goes on', async () => {
    await askAndWait('Hello!');
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') asked.push((request.postDataJSON() as { model: string }).model);
    });
    await page.getByRole('button', { name: 'Retry', exact: true }).click();
    await until(() => expect(asked).toEqual(['demo']), 10_000);
    await answers()
      .getByText(/tokens in/)
      .waitFor();
    await page.getByRole('combobox', { name: 'Retry with another model' }).click();
    await page.getByRole('option', { name: 'other' }).click();
    await until(() => expect(asked).toEqual(['demo', 'other']), 10_000);
    await answers().getByText('other', { exact: true }).waitFor();
    await askAndWait('Go on.');
    expect(asked).toEqual(['demo', 'other', 'other']);
    await untilModels(['other']);
  });

  it('shows what an answer cost, its speed, and its request, which has a page', async () => {
    const answer = await askAndWait('Tell me of the sea.\n[demo rate=100 tokens=40]');
    await answer.getByText(/first token .* \d+ out .* tokens\/s · cost \$0\.\d+/).waitFor();
    const link = answer.getByRole('link', { name: /^Request / });
    const id = await link.innerText();
    await link.click();
    await page.getByRole('heading', { level: 1, name: 'Request' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/requests/${id}`);
    await page.getByRole('region', { name: 'Request 1 of 1' }).getByText('demo').first().waitFor();
  });

  it('asks two models at once, and goes on with both or with one', async () => {
    await page.getByRole('combobox', { name: 'Compare with' }).click();
    await page.getByRole('option', { name: 'other' }).click();
    await page.getByLabel('Your message', { exact: true }).fill('Slowly.\n[demo rate=20 tokens=40]');
    await page.keyboard.press('Enter');
    const [left, right] = [
      page.getByRole('log', { name: 'Conversation with demo' }),
      page.getByRole('log', { name: 'Conversation with other' }),
    ];
    // Both stream at the same time.
    await until(async () => expect(await page.locator('article[aria-busy=true] .prose').count()).toBe(2), 10_000);
    for (const side of [left, right]) {
      await side.getByText(/first token .* tokens\/s · cost \$0\.\d+/).waitFor();
      await side.getByRole('link', { name: /^Request / }).waitFor();
    }
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByLabel('Your message', { exact: true }).fill(say('both'));
    await page.keyboard.press('Enter');
    for (const side of [left, right]) await side.getByText('both', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Keep only this one: other' }).click();
    await untilModels(['other']);
    await until(async () => expect(await answers().count()).toBe(2));
    await askAndWait(say('alone'));
    expect(await answers().count()).toBe(3);
    await answers().last().getByText('other', { exact: true }).waitFor();
  });

  it('works on a phone, with two models below each other', async () => {
    await watched.context.close();
    await open('/playground?model=demo&model=other', { look: phone });
    await askAndWait(say('| a | b |\n|--|--|\n| a long word of a cell | another long word of a cell, and more |'));
    await page.getByRole('button', { name: 'Keep only this one: demo' }).waitFor();
    await answers()
      .last()
      .getByText(/tokens in/)
      .waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(phone.width);
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Saved conversations' }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Rename / })
      .waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await seriousViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(await seriousViolations(page)).toEqual([]);
  });

  describe('keeps conversations in the browser', () => {
    const dialog = (): Locator => page.getByRole('dialog', { name: 'Saved conversations' });
    const names = async (): Promise<string[]> => {
      const labels = (await page.evaluate(
        `[...document.querySelectorAll('[role=dialog] button[aria-label^="Open "]')].map((each) => each.ariaLabel)`,
      )) as string[];
      return labels.map((label) => label.replace('Open ', ''));
    };
    /** Opens the dialog, and waits until it shows these: they are kept a moment after they were said. */
    const expectSaved = async (check: (shown: string[]) => void): Promise<void> => {
      await page.getByRole('button', { name: 'Saved conversations' }).click();
      await dialog().waitFor();
      await until(async () => check(await names()), 10_000);
    };
    const closeDialog = async (): Promise<void> => {
      await page.keyboard.press('Escape');
      await dialog().waitFor({ state: 'hidden' });
    };

    it('across reloads, by their first words, until they are renamed or deleted', async () => {
      await askAndWait('Of ebb and flow.');
      await until(() => expect(new URL(page.url()).searchParams.get('conversation')).not.toBeNull(), 10_000);
      await page.getByText('Saved in this browser.').waitFor();
      await page.reload();
      await answers()
        .getByText(/tokens in/)
        .waitFor();
      await startAgain();
      await askAndWait('Of harbours.');
      await expectSaved((shown) => expect(shown).toEqual(['Of harbours.', 'Of ebb and flow.']));
      await dialog()
        .getByText(/kept in this browser only/)
        .waitFor();
      expect(await seriousViolations(page)).toEqual([]);
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

    it('which several tabs change without undoing each other', async () => {
      await askAndWait(say('begun'));
      await until(() => expect(new URL(page.url()).searchParams.get('conversation')).not.toBeNull(), 10_000);
      const [one, url] = [page, page.url()];
      const two = await watched.context.newPage();
      await two.goto(url);
      await answers(two).getByText('begun').waitFor();
      await askAndWait(say('of the first tab'));
      page = two;
      await askAndWait(say('of the second tab'));
      await until(() => expect(two.url()).not.toBe(url), 10_000);
      for (const [shown, words] of [
        [one, 'of the first tab'],
        [two, 'of the second tab'],
      ] as const) {
        await shown.reload();
        await until(
          async () => expect(await answers(shown).locator('.prose').allInnerTexts()).toEqual(['begun', words]),
          10_000,
        );
      }
    });

    it('no more than a hundred, and none of another person or after the sign-out', async () => {
      // Somebody of this run, who signs out.
      const name = uniqueName('Joe');
      const joe = await inviteToConsole(here.ada, name);
      await watched.context.close();
      await open('/playground?model=demo', { person: joe });
      await askAndWait('The first one.');
      await until(() => expect(new URL(page.url()).searchParams.get('conversation')).not.toBeNull(), 10_000);
      await page.evaluate(manyHeads(joe.id));
      await startAgain();
      await askAndWait('The last one.');
      await expectSaved((kept) =>
        expect([kept.length, kept[0], kept.includes('The first one.')]).toEqual([100, 'The last one.', false]),
      );
      await closeDialog();
      const eve = await inviteToConsole(here.ada, uniqueName('Eve'));
      const cookies = await watched.context.cookies();
      const [, theirs = ''] = eve.client.cookie?.split('=') ?? [];
      // A session that ended is no sign-out.
      await watched.context.addCookies(cookies.map((each) => ({ ...each, value: theirs })));
      await page.goto('/playground');
      await page.getByRole('button', { name: 'Saved conversations' }).click();
      await dialog().getByText('No saved conversations').waitFor();
      await watched.context.addCookies(cookies);
      await page.goto('/playground');
      await expectSaved((kept) => expect(kept.length).toBe(100));
      await closeDialog();
      await page.getByRole('button', { name: /^Account of/ }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      await page.getByLabel('E-mail').fill(`${name.toLowerCase()}@example.com`);
      await page.getByRole('textbox', { name: 'Password' }).fill(goodPassword);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('button', { name: 'Saved conversations' }).click();
      await dialog().getByText('No saved conversations').waitFor();
    });
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
