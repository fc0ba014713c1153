import { z } from 'zod';
import { modelPriceSchema, pricedModelPattern } from '#shared/accounts/prices/model-price.ts';
import type { ListedPrice } from '#shared/accounts/prices/price-table.ts';
import { priceSchema, type Price } from '../../contract/usage.ts';
import { requireAccess } from '../access.ts';
import { notFound } from '../api-failure.ts';
import { listOperation, operation, type Operation } from '../operations/operation.ts';
import { byName, pageOf } from '../operations/page.ts';
import { parse } from '../parse.ts';
import type { UsageParts } from './usage-parts.ts';

const newPrice = modelPriceSchema.partial({ asOf: true }).meta({ description: '`asOf` is today where it is absent.' });

const modelName = z.object({ model: z.string().regex(pricedModelPattern, 'This is not the name of a model.') });

const byModelName = byName('model', ({ model }: ListedPrice) => model);

/** Returns the operations on the prices of models. Every signed-in person may read them. Only administrators may change them. */
export function priceOperations({
  prices,
  notePriceChange,
}: Pick<UsageParts, 'prices' | 'notePriceChange'>): Operation[] {
  const byModel = { path: '/prices/{+model}', subject: 'prices', scopes: [] } as const;
  return [
    listOperation({
      path: '/prices',
      id: 'listPrices',
      subject: 'prices',
      summary: 'Lists the prices of models, by name.',
      scopes: ['read'],
      command: 'prices list',
      item: priceSchema,
      handle: async (_, page) => {
        const { data, next } = pageOf(prices.list(), page, byModelName);
        return { data: data.map(toAnswer), next };
      },
    }),
    operation({
      ...byModel,
      method: 'put',
      id: 'setPrice',
      summary: 'Sets the price of a model, in place of the shipped one.',
      command: 'prices set',
      body: newPrice,
      answer: priceSchema,
      handle: async ({ actor, params, body: { asOf = new Date().toISOString().slice(0, 10), ...newPrices } }) => {
        requireAccess('price.change', actor);
        const { model } = parse(modelName, params);
        const price = { ...newPrices, asOf };
        const before = prices.findChanged(model);
        await prices.change(model, price);
        await notePriceChange(actor, model, { before, after: price });
        return toAnswer({ model, ...price, source: 'changed' });
      },
    }),
    operation({
      ...byModel,
      method: 'delete',
      id: 'resetPrice',
      summary: 'Removes the price that was set for a model; the shipped one applies again.',
      command: 'prices reset',
      handle: async ({ actor, params }) => {
        requireAccess('price.change', actor);
        const { model } = parse(modelName, params);
        const before = prices.findChanged(model);
        if (!(await prices.remove(model))) throw notFound();
        await notePriceChange(actor, model, { before, after: undefined });
      },
    }),
  ];
}

function toAnswer({ model, input, cachedInput, cacheWrite, output, asOf, source, ...others }: ListedPrice): Price {
  const { hourCacheWrite, image, second, characters, search } = others;
  return {
    model,
    input,
    ...(cachedInput !== undefined && { cachedInput }),
    ...(cacheWrite !== undefined && { cacheWrite }),
    ...(hourCacheWrite !== undefined && { hourCacheWrite }),
    output,
    ...(image !== undefined && { image }),
    ...(second !== undefined && { second }),
    ...(characters !== undefined && { characters }),
    ...(search !== undefined && { search }),
    ...(asOf !== undefined && { asOf }),
    source,
  };
}
