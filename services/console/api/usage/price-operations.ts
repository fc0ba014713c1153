import { z } from 'zod';
import { modelPriceSchema, modelNamePattern } from '#shared/accounts/prices/model-price.ts';
import type { ListedPrice } from '#shared/accounts/prices/price-table.ts';
import { priceSchema, type Price } from '../../contract/usage.ts';
import { requireAccess } from '../access.ts';
import { notFound } from '../api-failure.ts';
import { listOperation, operation, type Operation } from '../operations/operation.ts';
import { byName, cutPage } from '../operations/page.ts';
import { parse } from '../parse.ts';
import type { UsageParts } from './usage-parts.ts';

const newPrice = modelPriceSchema.partial({ asOf: true }).meta({ description: '`asOf` defaults to today.' });

const modelName = z.object({ model: z.string().regex(modelNamePattern, 'This is not the name of a model.') });

const byModelName = byName('model', ({ model }: ListedPrice) => model);

/**
 * Returns the operations on the prices of models. Every signed-in person may read the prices. Only administrators may change the prices.
 */
export function priceOperations({
  prices,
  auditPriceChange,
}: Pick<UsageParts, 'prices' | 'auditPriceChange'>): Operation[] {
  const priceRoute = { path: '/prices/{+model}', subject: 'prices', scopes: [] } as const;
  return [
    listOperation({
      path: '/prices',
      id: 'listPrices',
      subject: 'prices',
      summary: 'Lists the prices of models, by name.',
      scopes: ['read'],
      command: 'prices list',
      form: { none: 'There are no prices.' },
      query: z.object({ source: priceSchema.shape.source.optional().describe('Lists only prices of this source.') }),
      item: priceSchema,
      handle: async ({ query: { source } }, page) => {
        const listed = prices.list().filter((price) => source === undefined || price.source === source);
        const { data, next } = cutPage(listed, page, byModelName);
        return { data: data.map(toAnswer), next };
      },
    }),
    operation({
      ...priceRoute,
      method: 'put',
      id: 'setPrice',
      summary: 'Sets the price of a model, in place of the shipped price.',
      command: 'prices set',
      form: { example: 'prices set lab/model --input 0.5 --output 1.5 --cached-input 0.1' },
      body: newPrice,
      answer: priceSchema,
      handle: async ({ actor, params, body: { asOf = new Date().toISOString().slice(0, 10), ...newPrices } }) => {
        requireAccess('price.change', actor);
        const { model } = parse(modelName, params);
        const price = { ...newPrices, asOf };
        const before = prices.findChanged(model);
        await prices.change(model, price);
        await auditPriceChange(actor, model, { before, after: price });
        return toAnswer({ model, ...price, source: 'changed' });
      },
    }),
    operation({
      ...priceRoute,
      method: 'delete',
      id: 'resetPrice',
      summary: 'Removes the price that was set for a model. The shipped price applies again.',
      command: 'prices reset',
      form: { done: 'The price of {model} is the shipped one again, if there is one.' },
      handle: async ({ actor, params }) => {
        requireAccess('price.change', actor);
        const { model } = parse(modelName, params);
        const before = prices.findChanged(model);
        if (!(await prices.remove(model))) throw notFound();
        await auditPriceChange(actor, model, { before, after: undefined });
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
