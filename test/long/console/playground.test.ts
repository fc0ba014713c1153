// @module-tag chromium
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { pixelData } from '../../helpers/clis/open-real-cli.ts';
import { engineState } from '../../helpers/clients/keyed-requests.ts';
import { phone, type WatchedPage } from '../../helpers/console/console-page.ts';
import { choose } from '../../helpers/console/page-actions.ts';
import { expectAccessible, expectGood, expectNoViolation } from '../../helpers/console/page-checks.ts';
import { shareConsole } from '../../helpers/console/console-with-ada.ts';
import { openAs, openPageAs } from '../../helpers/console/open-as.ts';
import { answersOn, askAndWaitOn, askOn, chooseTool, say } from '../../helpers/console/playground-page.ts';
import { until } from '../../helpers/until.ts';

describe('the playground', () => {
  const here = shareConsole();
  let watched: WatchedPage;
  let page: Page;

  beforeAll(async () => {
    await here.cluster.addToolsWorker();
    for (const model of ['demo', 'other'])
      await here.ada.client.put(`/prices/${model}`, { input: 1_000, output: 2_000 });
  });
  afterAll(async () => {
    for (const model of ['demo', 'other']) await here.ada.client.delete(`/prices/${model}`);
  });
  beforeEach(async () => {
    watched = await openAs(here.ada);
    ({ page } = watched);
    await page.goto('/playground?model=demo');
  });

  const answers = (): Locator => answersOn(page);
  const ask = (text: string): Promise<Locator> => askOn(page, text);
  const askAndWait = (text: string): Promise<Locator> => askAndWaitOn(page, text);
  const chooseFormat = (format: string): Promise<void> =>
    page.getByRole('radiogroup', { name: 'Format of the request' }).getByText(format).click();
  const untilModels = (models: string[]): Promise<void> =>
    until(() => expect(new URL(page.url()).searchParams.getAll('model')).toEqual(models));
  const proseOf = (answer: Locator): Promise<string> => answer.locator('.prose').innerText();

  it.each(['OpenAI', 'Anthropic', 'Responses'])(
    'shows in the format of %s who answered, thinking apart, and answers about a picture and with a tool',
    async (format) => {
      await chooseFormat(format);
      await page.getByRole('switch', { name: 'Think before answering' }).click();
      const first = await askAndWait('Say hello to the harbour.');
      await first.getByText(/worker w\w+ .* tokens in/).waitFor();
      await first.getByText('GPU', { exact: true }).waitFor();
      await first.getByText('Thinking', { exact: true }).waitFor();
      expect(await proseOf(first)).toContain('harbour');
      const thinking = page.getByText('Thinking', { exact: true });
      expect(await first.locator('.prose').filter({ has: thinking }).count()).toBe(0);

      await page
        .locator('input[type=file]')
        .setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from(pixelData, 'base64') });
      await page.getByRole('img', { name: 'Attachment 1' }).waitFor();
      expect(await proseOf(await askAndWait('What is this?'))).toMatch(/image|picture|png/i);

      await chooseTool(page, 'calculator');
      await ask('Use the tool calculator with expression "6*7".');
      await page.getByRole('button', { name: 'Run calculator' }).click();
      await page.getByRole('group', { name: 'Result of calculator' }).waitFor();
      await until(async () => expect(await answers().count()).toBe(4));
      await answers().last().getByText('tokens in').waitFor();
      expect(await proseOf(answers().last())).toContain('42');
    },
  );

  it('sends earlier thinking with the next turn of Responses, and shows the request as curl, without any key', async () => {
    await chooseFormat('Responses');
    await page.getByRole('switch', { name: 'Think before answering' }).click();
    await askAndWait('What is the tide?');
    const sent = page.waitForRequest((request) => request.url().endsWith('/api/openai/responses'));
    await askAndWait('And again.');
    const { input } = (await sent).postDataJSON() as { input: { type: string }[] };
    expect(input.map(({ type }) => type)).toEqual(['message', 'reasoning', 'message', 'message']);
    await page.getByRole('button', { name: 'Show as curl' }).click();
    const code = await page.getByRole('dialog').getByRole('group', { name: 'the request' }).innerText();
    expect(code).toMatch(/\/api\/openai\/responses[^]*"input": \[[^]*And again\./);
    expect(code).toContain('Authorization: Bearer $RTR_KEY');
    expect(code).not.toMatch(/csrf|rtr_\w|user\.\w|cookie/);
  });

  it.each(['OpenAI', 'Responses'])('shows why an answer failed, also midway, and asks again: %s', async (format) => {
    await chooseFormat(format);
    const alert = (await ask('Hello!\n[demo fault=drop after=3]')).getByRole('alert');
    await alert.getByText('The answer failed').waitFor();
    await alert.getByRole('button', { name: 'Try again' }).click();
    await alert.getByText('The answer failed').waitFor();
    await until(async () => expect(await page.getByRole('article').count()).toBe(2));
  });

  it('shows Markdown: headings, lists, tables, and code with its language and a button that copies it', async () => {
    await watched.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const table = '| port | m |\n|:--|--:|\n| Brest | 7.1 |\n';
    const answer = await askAndWait(say(`# Tides\n\n- ebb\n- flow\n\n${table}\n\`\`\`ts\nconst tide = 1;\n\`\`\`\n`));
    await answer.getByRole('heading', { level: 2, name: 'Tides' }).waitFor();
    await until(async () => expect(await answer.getByRole('listitem').allInnerTexts()).toEqual(['ebb', 'flow']));
    await answer.getByRole('group', { name: 'Table' }).getByRole('cell', { name: 'Brest' }).waitFor();
    await answer.getByText('ts', { exact: true }).waitFor();
    await answer.getByRole('button', { name: 'Copy code' }).click();
    const copied = (): Promise<unknown> => page.evaluate('navigator.clipboard.readText()');
    await until(async () => expect(await copied()).toBe('const tide = 1;'));
    await expectAccessible(page);
  });

  it('stops an answer with Escape or a button, which ends the request, keeps what came, and goes on', async () => {
    const stops = [() => page.keyboard.press('Escape'), () => page.getByRole('button', { name: 'Stop' }).click()];
    for (const stop of stops) {
      const answer = await ask('Slowly.\n[demo rate=20 tokens=500]');
      await answer.locator('.prose').waitFor();
      await stop();
      await answer.getByText('You stopped the answer.').waitFor();
      expect((await proseOf(answer)).length).toBeGreaterThan(0);
      await answer.getByText(/first token .* total/).waitFor();
      await until(async () => expect(await page.getByRole('button', { name: 'Stop' }).count()).toBe(0));
      await until(async () => expect((await engineState(here.cluster)).active).toBe(0));
    }
    await askAndWait('And now?');
    expect(await answers().count()).toBe(3);
  });

  it('sends an earlier message again with another text, and drops what came after it', async () => {
    await askAndWait(say('one'));
    await askAndWait(say('two'));
    await page.getByRole('article', { name: 'You' }).first().getByRole('button', { name: 'Edit' }).click();
    const field = page.getByLabel('Your message, changed');
    expect(await field.inputValue()).toBe(say('one'));
    await field.fill(say('other'));
    await page.getByRole('button', { name: 'Send from here' }).click();
    await until(async () => expect(await answers().locator('.prose').allInnerTexts()).toEqual(['other']));
    await until(async () => expect(await page.getByRole('article', { name: 'You' }).count()).toBe(1));
  });

  it('answers again, also with another model, which then goes on', async () => {
    await askAndWait('Hello!');
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') asked.push((request.postDataJSON() as { model: string }).model);
    });
    await page.getByRole('button', { name: 'Retry', exact: true }).click();
    await until(() => expect(asked).toEqual(['demo']));
    await answers().getByText('tokens in').waitFor();
    await choose(page, 'Retry with another model', 'other');
    await until(() => expect(asked).toEqual(['demo', 'other']));
    await answers().getByText('other', { exact: true }).waitFor();
    await askAndWait('Go on.');
    expect(asked).toEqual(['demo', 'other', 'other']);
    await untilModels(['other']);
  });

  it('shows what an answer cost, its speed, and its request, which has a page', async () => {
    const answer = await askAndWait('Tell me of the sea.\n[demo rate=20 tokens=40]');
    await answer.getByText(/first token .* \d+ out .* tokens\/s · cost \$0\.\d+/).waitFor();
    const link = answer.getByRole('link', { name: /^Request / });
    const id = await link.innerText();
    await link.click();
    await page.getByRole('heading', { level: 1, name: 'Request' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/requests/${id}`);
    await page.getByRole('region', { name: 'Request 1 of 1' }).getByText('demo').first().waitFor();
  });

  it('shows the cost of all turns of an answer, although their records come one after the other', async () => {
    let [reads, cost] = [0, 0];
    await page.route('**/console/api/usage/requests/*', async (route) => {
      const response = await route.fetch();
      if (!response.ok()) return route.fulfill({ response });
      const [record] = (await response.json()) as Record<'promptTokens' | 'completionTokens' | 'cost', number>[];
      if (!record) throw new Error('no record');
      ({ cost } = record);
      const [promptTokens, completionTokens] = [record.promptTokens / 2, record.completionTokens / 2];
      const turn = { ...record, promptTokens, completionTokens, cost: cost / 2 };
      reads += 1;
      await route.fulfill({ response, json: reads === 1 ? [turn] : [turn, turn] });
    });
    const answer = await askAndWait('Tell me of the sea.\n[demo tokens=40]');
    const shown = await answer.getByText(/cost \$0\.\d+/).innerText();
    expect(Number(/cost \$([\d.]+)/.exec(shown)?.[1])).toBeCloseTo(cost, 3);
  });

  it('asks two models at once, and goes on with both or with one', async () => {
    await choose(page, 'Compare with', 'other');
    await page.getByLabel('Your message', { exact: true }).fill('Slowly.\n[demo rate=20 tokens=160]');
    await page.keyboard.press('Enter');
    const sides = ['demo', 'other'].map((model) => page.getByRole('log', { name: `Conversation with ${model}` }));
    await until(async () => expect(await page.locator('article[aria-busy=true] .prose').count()).toBe(2));
    for (const side of sides) {
      await side.getByText(/first token .* tokens\/s · cost \$0\.\d+/).waitFor();
      await side.getByRole('link', { name: /^Request / }).waitFor();
    }
    await expectNoViolation(page);
    await page.getByLabel('Your message', { exact: true }).fill(say('both'));
    await page.keyboard.press('Enter');
    for (const side of sides) await side.getByText('both', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Keep only this one: other' }).click();
    await untilModels(['other']);
    await until(async () => expect(await answers().count()).toBe(2));
    await askAndWait(say('alone'));
    expect(await answers().count()).toBe(3);
    await answers().last().getByText('other', { exact: true }).waitFor();
  });

  it('works on a phone, with two models below each other', async () => {
    ({ page } = await openPageAs(here.ada, '/playground?model=demo&model=other', { look: phone }));
    await askAndWait(say('| a | b |\n|--|--|\n| a long word of a cell | another long word of a cell, and more |'));
    await page.getByRole('button', { name: 'Keep only this one: demo' }).waitFor();
    await answers().last().getByText('tokens in').waitFor();
    await expectGood(page);
    await page.getByRole('button', { name: 'Saved conversations' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Rename ' }).first().waitFor();
    await expectAccessible(page);
  });
});
