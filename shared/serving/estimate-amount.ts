import type { Amount } from '#shared/accounts/limits/party-use.ts';
import { highestCostOf, type TokenPrice } from '#shared/accounts/prices/model-price.ts';
import type { Placement } from '#shared/broker/dispatch/workers/live-pool.ts';
import type { Tier } from '#shared/core/tier.ts';
import type { RequestParameters } from '#shared/formats/client-format.ts';

/** Tokens that an answer is taken to have at most when neither the client nor the model sets a limit. */
const assumedOutput = 8_192;

/** The input is estimated at four bytes a token; texts with three are common enough to be prepared for. */
const inputMargin = 4 / 3;

/** A model's price, where it is known. */
export type PriceOf = (tier: Tier | undefined, model: string) => TokenPrice | undefined;

/**
 * What a request may come to at most: its input, estimated, and the output that it asks for or that the model can give, at
 * the price of the dearest of the models that may serve it. An answer without any limit is taken to have 8,192 tokens at most.
 */
export function estimateAmount(
  { needs, maxOutput }: Pick<RequestParameters, 'needs' | 'maxOutput'>,
  placements: readonly Pick<Placement, 'pool' | 'model'>[],
  priceOf: PriceOf,
): Amount {
  const input = Math.ceil(needs.inputTokens * inputMargin);
  let amount: Amount = { tokens: input + (maxOutput ?? assumedOutput), cost: 0 };
  for (const [index, { pool, model }] of placements.entries()) {
    const most = pool.models.find(({ id }) => id === model)?.maxOutput ?? Number.POSITIVE_INFINITY;
    const output = Math.min(maxOutput ?? assumedOutput, most);
    const before = index === 0 ? { tokens: 0, cost: 0 } : amount;
    amount = {
      tokens: Math.max(before.tokens, input + output),
      cost: Math.max(before.cost, highestCostOf(input, output, priceOf(pool.tier, model))),
    };
  }
  return amount;
}
