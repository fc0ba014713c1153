// @module-tag chromium
import OpenAI from 'openai';
import { expect, it, onTestFinished } from 'vitest';
import { startCluster } from '../../helpers/cluster/start-cluster.ts';
import { openConsolePage, waitUntilLoaded } from '../../helpers/console/console-page.ts';
import { chooseAction, takeSecret } from '../../helpers/console/page-actions.ts';
import { goodPassword } from '../../helpers/console/good-password.ts';
import { buildConsole, firstLinkToken } from '../../helpers/console/start-console.ts';
import { until } from '../../helpers/until.ts';

it('the first use leads from the link to a key, a request with the official SDK, its record, and the revoked key', async () => {
  await buildConsole();
  const cluster = await startCluster();
  onTestFinished(() => cluster.stop());
  const { page } = await openConsolePage(cluster.url);
  await page.goto(`/link/${await firstLinkToken(cluster.prefix)}`);
  await page.getByLabel('Your name').fill('Ada Lovelace');
  await page.getByLabel('E-mail').fill('ada@example.com');
  await page.getByRole('textbox', { name: 'Password' }).fill(goodPassword);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();

  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByText('No keys yet').waitFor();
  await page.getByRole('link', { name: 'Admin, Router keys' }).click();
  await page.getByRole('tabpanel').getByText(/^rtr_/).first().waitFor();
  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByRole('button', { name: 'New key' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('first key');
  await page.getByRole('dialog').getByLabel('Tokens a day').fill('100000');
  const apiKey = await takeSecret(page, 'Create key', 'the key');
  expect(apiKey).toMatch(/^user\./);

  const client = new OpenAI({ apiKey, baseURL: `${cluster.url}/api/openai/v1`, maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: 'Good morning!' }];
  const stream = await client.chat.completions.create({ model: 'auto', messages, stream: true });
  let text = '';
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
  expect(text).not.toBe('');

  await page.getByRole('link', { name: 'Usage' }).click();
  const requests = page.getByRole('region', { name: 'Recent requests' });
  const row = requests.getByRole('row', { name: /first key/ });
  // Reloads instead of waiting for the page's own polling.
  await until(async () => {
    await page.reload();
    await page.getByRole('heading', { name: 'Recent requests' }).waitFor();
    await waitUntilLoaded(page);
    expect(await row.count()).toBe(1);
  });
  await row.getByText('Served').waitFor();
  await row.getByRole('button', { name: /^Details of/ }).click();
  const facts = page.getByRole('dialog');
  await facts.getByText('auto, generate').first().waitFor();
  await facts.getByText('Ada Lovelace').waitFor();
  await facts.getByRole('button', { name: 'Close' }).click();
  await page.getByText(/tokens per day/).waitFor();
  await page.getByRole('figure', { name: /Tokens over time/ }).waitFor();
  const saved = page.waitForEvent('download');
  await page.getByRole('link', { name: 'CSV' }).click();
  expect((await saved).suggestedFilename()).toMatch(/\.csv$/);

  await page.getByRole('link', { name: 'API keys' }).click();
  await chooseAction(page, 'first key', 'Revoke');
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).click();
  await page.getByText('All keys are revoked or expired').waitFor();
  const ask = () => client.chat.completions.create({ model: 'auto', messages });
  await until(async () => expect(await ask().catch((error: object) => error)).toMatchObject({ status: 401 }));

  // Neither secrets nor prompts are in the pages or in the logs.
  for (const said of [apiKey, goodPassword, 'Good morning!']) {
    expect(await page.content()).not.toContain(said);
    expect(JSON.stringify(cluster.ingress.lines)).not.toContain(said);
  }
});
