import { Router, type Request, type Response } from 'express';
import { z } from 'zod';
import { modelPriceSchema } from '#shared/accounts/prices/model-price.ts';
import type { ListedPrice } from '#shared/accounts/prices/price-table.ts';
import type { Price } from '../../contract/usage.ts';
import { forbidden, notFound } from '../api-failure.ts';
import { parse } from '../parse.ts';
import type { UsageParts } from './usage-parts.ts';

const newPrice = modelPriceSchema.partial({ asOf: true });

/** A model's id: it may contain slashes and colons, but no spaces. */
const modelName = z.object({ model: z.string().regex(/^[\w.:/@+-]{1,200}$/, 'This is not the name of a model.') });

/** The prices of models. Everyone who is signed in may read them, admins may change them. */
export function priceRoutes({
  prices,
  viewerOf,
  notePriceChange,
}: Pick<UsageParts, 'prices' | 'viewerOf' | 'notePriceChange'>): Router {
  const routes = Router();
  const requireAdmin = async (response: Response): Promise<void> => {
    if (!(await viewerOf(response)).isAdmin) throw forbidden();
  };

  routes.get('/prices', (_, response) => {
    response.json(prices.list().map(toAnswer));
  });

  routes.put('/prices/*model', async (request, response) => {
    await requireAdmin(response);
    const model = modelOf(request);
    const { asOf = new Date().toISOString().slice(0, 10), ...given } = parse(newPrice, request.body);
    const price = { ...given, asOf };
    const before = prices.changed(model);
    await prices.change(model, price);
    await notePriceChange(response, model, { before, after: price });
    response.json(toAnswer({ model, ...price, source: 'changed' }));
  });

  routes.delete('/prices/*model', async (request, response) => {
    await requireAdmin(response);
    const model = modelOf(request);
    const before = prices.changed(model);
    if (!(await prices.remove(model))) throw notFound();
    await notePriceChange(response, model, { before, after: undefined });
    response.status(204).end();
  });

  return routes;
}

function modelOf(request: Request): string {
  const given = request.params['model'];
  return parse(modelName, { model: Array.isArray(given) ? given.join('/') : given }).model;
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
