import { expect, it, onTestFinished } from 'vitest';
import { PriceTable } from '#shared/accounts/prices/price-table.ts';
import type { TokenPrice } from '#shared/accounts/prices/model-price.ts';
import { silentLog as log } from '../../../helpers/silent-log.ts';
import { openKeyStore } from '../../../helpers/accounts/open-key-store.ts';

async function openTables(registered: Record<string, TokenPrice> = {}) {
  const { redis, prefix } = await openKeyStore();
  const announced: string[] = [];
  const open = (): PriceTable => {
    const announce = async () => void announced.push('changed');
    const table = new PriceTable({ redis, prefix, log, registeredPrices: () => registered, announce });
    onTestFinished(() => table.close());
    return table;
  };
  return { table: open(), another: open(), announced };
}

it.each([
  ['claude-sonnet-4-5', 3],
  ['claude-sonnet-4-5-20250929', 3],
  ['anthropic/claude-sonnet-4.5', 3],
  ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 3],
  ['gpt-4o-mini-2024-07-18', 0.15],
  ['openai/gpt-4.1', 2],
  ['openai/gpt-oss-120b', 0.15],
  ['gpt-oss-120b', 0.35],
  ['accounts/fireworks/models/llama-v3p3-70b-instruct', 0.9],
])('the price table knows what %s costs in the cloud', async (model, input) => {
  const { table } = await openTables();
  expect(table.priceOf('cloud', model)?.input).toBe(input);
});

it('the price table has a date for every price', async () => {
  const { table } = await openTables();
  const prices = table.list();
  expect(prices.length).toBeGreaterThan(50);
  for (const price of prices) {
    expect(price).toMatchObject({ source: 'shipped', asOf: expect.stringMatching(/^202\d-\d\d-\d\d$/) });
    // Models for embeddings have no output.
    if (price.output > 0) expect(price.output).toBeGreaterThanOrEqual(price.input);
    else expect(price.model).toMatch(/embed/);
    expect(price.cachedInput ?? 0).toBeLessThanOrEqual(price.input);
  }
});

it('the price table takes own hardware and agents for free unless a price is set, and no inherited name for a price', async () => {
  const { table } = await openTables({ qwen3: { input: 1, output: 2 } });
  for (const name of ['constructor', '__proto__']) expect(table.priceOf('cloud', name)).toBeUndefined();
  expect(table.priceOf('gpu', 'gpt-oss-120b')).toBeUndefined();
  expect(table.priceOf('cli', 'claude-sonnet-5')).toBeUndefined();
  expect(table.priceOf('gpu', 'qwen3')).toEqual({ input: 1, output: 2 });
});

it('the price table puts the registry above the shipped prices and an admin above both, on every node', async () => {
  const { table, another, announced } = await openTables({ 'gpt-5-mini': { input: 7, output: 8 } });
  expect(table.priceOf('cloud', 'gpt-5-mini')?.input).toBe(7);
  await table.change('gpt-5-mini', { input: 9, output: 10, asOf: '2026-11-01' });
  expect(announced).toEqual(['changed']);
  await another.refresh();
  expect(another.priceOf('cloud', 'gpt-5-mini')?.input).toBe(9);
  expect(another.list().find(({ model }) => model === 'gpt-5-mini')).toMatchObject({ input: 9, source: 'changed' });
  expect(await another.remove('gpt-5-mini')).toBe(true);
  expect(await another.remove('gpt-5-mini')).toBe(false);
  await table.refresh();
  expect(table.priceOf('cloud', 'gpt-5-mini')?.input).toBe(7);
});
