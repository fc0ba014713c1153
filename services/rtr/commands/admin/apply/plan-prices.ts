import { modelPriceSchema } from '#shared/accounts/prices/model-price.ts';
import { buildPath } from '../admin-client.ts';
import type { Access } from './access-schema.ts';
import { joinPlans, emptyPlan, planChange, type Change, type Plan, type PresentAccess } from './change.ts';
import { findDifferences } from './find-differences.ts';
import { requireUnchangedFields } from './require-unchanged.ts';
import type { Price } from '../../../../console/contract/usage.ts';

const priceFields = Object.keys(modelPriceSchema.shape).filter((name) => name !== 'asOf');

/**
 * Plans the changes of prices. A price is replaced as a whole.
 * @param prune whether to reset the prices that are set but not in the file
 */
export function planPrices({ prices }: Access, present: PresentAccess, prune: boolean): Plan {
  const planned = Object.entries(prices ?? {}).map(([model, wanted]) => {
    const current = present.prices.get(model);
    // A field that is not in the file is removed, except `asOf`, which becomes today.
    const completePrice = { ...Object.fromEntries(priceFields.map((name) => [name, null])), ...wanted };
    const differences = findDifferences(current, completePrice);
    return planChange({
      does: current ? 'change' : 'create',
      what: `price of ${model}`,
      fields: differences,
      make: async (context) => {
        const { client } = context;
        context.prices ??= client.listAll<Price>('/prices');
        requireUnchangedFields(
          (await context.prices).find((price) => price.model === model),
          differences,
        );
        await client.send('PUT', buildPath`/prices/${model}`, { body: wanted });
        return undefined;
      },
    });
  });
  const removed = [...present.prices.values()].filter(
    ({ model, source }) => source === 'changed' && !Object.hasOwn(prices ?? {}, model),
  );
  const changes = removed.map(({ model }): Change => ({
    does: 'remove',
    what: `price of ${model}`,
    fields: [],
    make: async ({ client }) => {
      await client.send('DELETE', buildPath`/prices/${model}`);
      return undefined;
    },
  }));
  return joinPlans([...planned, ...(prune && prices ? [{ ...emptyPlan, changes }] : [])]);
}
