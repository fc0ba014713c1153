import { modelPriceSchema } from '#shared/accounts/prices/model-price.ts';
import { pathOf } from '../admin-client.ts';
import type { Access } from './access-schema.ts';
import { joinPlans, emptyPlan, planChange, type Change, type Plan, type PresentAccess } from './change.ts';
import { findDifferences } from './find-differences.ts';
import { requireUnchangedFields } from './require-unchanged.ts';
import type { Price } from '../admin-answers.ts';

const priceFields = Object.keys(modelPriceSchema.shape).filter((name) => name !== 'asOf');

/**
 * Plans the changes of prices. A price is replaced as a whole.
 * @param prune whether to reset the prices that are set but not in the file
 */
export function planPrices({ prices }: Access, present: PresentAccess, prune: boolean): Plan {
  const planned = Object.entries(prices ?? {}).map(([model, wanted]) => {
    const current = present.prices.get(model);
    // A field that the file leaves out is removed, except for the day, which is then today.
    const whole = { ...Object.fromEntries(priceFields.map((name) => [name, null])), ...wanted };
    const found = findDifferences(current, whole);
    return planChange({
      does: current ? 'change' : 'create',
      what: `price of ${model}`,
      fields: found,
      make: async (maker) => {
        const { client } = maker;
        maker.prices ??= client.listAll<Price>('/prices');
        requireUnchangedFields(
          (await maker.prices).find((price) => price.model === model),
          found,
        );
        await client.send('PUT', pathOf`/prices/${model}`, { body: wanted });
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
      await client.send('DELETE', pathOf`/prices/${model}`);
      return undefined;
    },
  }));
  return joinPlans([...planned, ...(prune && prices ? [{ ...emptyPlan, changes }] : [])]);
}
