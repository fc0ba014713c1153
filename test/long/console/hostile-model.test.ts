import { expect, it, onTestFinished } from 'vitest';
import { makeFirstAccount, openConsolePage, wide } from '../../helpers/console/console-page.ts';
import { chromiumPath, openBrowser } from '../../helpers/console/open-browser.ts';
import { startConsole } from '../../helpers/console/start-console.ts';

const model = '"><img src=x onerror="window.hit=1"><script>window.hit=1</script>';

it.skipIf(chromiumPath === undefined)('a model name with markup is shown as text on every page', async () => {
  const cluster = await startConsole({ engine: { DEMO_MODELS: model } });
  onTestFinished(() => cluster.stop());
  const browser = await openBrowser();
  onTestFinished(() => browser.close());
  const { page, context, troubles } = await openConsolePage(browser, cluster.url, wide);
  await makeFirstAccount(page, cluster.firstLink);
  for (const content of ['Hello!', 'Fail.\n[demo fault=500]']) {
    await fetch(`${cluster.url}/api/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${cluster.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content }] }),
    });
  }
  for (const path of ['/', '/workers', '/models', '/usage']) {
    await page.goto(path);
    await page.getByText(model).first().waitFor();
  }
  await page.goto('/models');
  await page.getByRole('button', { name: 'How to use' }).last().click();
  await page.getByRole('dialog').getByText(model).first().waitFor();
  await page.goto('/playground');
  await page.getByLabel('Model').first().click();
  await page.getByRole('option').filter({ hasText: model }).waitFor();
  expect(await page.evaluate('window.hit')).toBeUndefined();
  expect(troubles).toEqual([]);
  await context.close();
});
