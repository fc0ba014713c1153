import { expect, it } from 'vitest';
import { consoleWithAda } from '../../helpers/console/console-with-ada.ts';
import { openAs } from '../../helpers/console/open-as.ts';
import { chromiumPath } from '../../helpers/console/open-browser.ts';
import { until } from '../../helpers/until.ts';

const here = consoleWithAda({ engine: { DEMO_TOKENS_PER_SECOND: '0' } });

it.skipIf(chromiumPath === undefined)('a late result of a tool does not bring an old conversation back', async () => {
  await here.cluster.addToolsWorker();
  const { page, troubles } = await openAs(here.browser, here.ada);
  const held = Promise.withResolvers<void>();
  await page.route('**/api/tools/v1/execute', async (route) => {
    await held.promise;
    await route.continue();
  });
  const said = page.getByRole('article', { name: 'You' });
  const ask = async (text: string): Promise<void> => {
    await page.getByLabel('Your message', { exact: true }).fill(text);
    await page.keyboard.press('Enter');
  };
  await page.goto('/playground?model=demo');
  await page.getByRole('combobox', { name: 'Tools of this router' }).click();
  await page.getByRole('option', { name: 'calculator' }).click();
  await page.keyboard.press('Escape');
  await ask('Use the tool calculator with expression "6*7".');
  const asked = page.waitForRequest('**/api/tools/v1/execute');
  await page.getByRole('button', { name: 'Run calculator' }).click();
  await asked;
  await page.getByRole('button', { name: 'New conversation' }).click();
  await ask('Of harbours.');
  await page.getByText('Saved in this browser.').waitFor();
  const answered = page.waitForResponse('**/api/tools/v1/execute');
  held.resolve();
  await (await answered).finished();
  await ask('Of tides.');
  await until(async () => expect(await said.count()).toBe(2), 10_000);
  expect(await said.allInnerTexts()).toMatchObject([
    expect.stringContaining('Of harbours.'),
    expect.stringContaining('Of tides.'),
  ]);
  expect(troubles).toEqual([]);
});
