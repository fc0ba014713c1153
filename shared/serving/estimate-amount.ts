import type { Amount } from '#shared/accounts/limits/party-use.ts';
import { computeMaxCost, type TokenPrice } from '#shared/accounts/prices/model-price.ts';
import type { Placement } from '#shared/broker/dispatch/workers/live-pool.ts';
import type { Tier } from '#shared/core/tier.ts';
import type { RequestParameters } from '#shared/formats/client-format.ts';

/** Assumed output tokens of a request without a limit. */
const assumedOutputTokens = 8_192;

/** Factor for the input. The estimate assumes four bytes per token, but texts with three bytes per token are common. */
const inputMargin = 4 / 3;

export type PriceLookup = (tier: Tier | undefined, model: string) => TokenPrice | undefined;

/**
 * Estimates the maximum that a request may use: its estimated input and its maximum output, at the price of the most expensive model that
 * may serve it. The maximum output is the limit of the request (8,192 tokens if there is none), or the limit of the model if that is lower.
 */
export function estimateAmount(
  { needs, maxOutput, units }: Pick<RequestParameters, 'needs' | 'maxOutput' | 'units'>,
  placements: readonly Pick<Placement, 'pool' | 'model'>[],
  priceOf: PriceLookup,
): Amount {
  const input = Math.ceil(needs.inputTokens * inputMargin);
  let amount: Amount = { tokens: input + (maxOutput ?? assumedOutputTokens), cost: 0 };
  for (const [index, { pool, model }] of placements.entries()) {
    const modelMax = pool.models.find(({ id }) => id === model)?.maxOutput ?? Number.POSITIVE_INFINITY;
    const output = Math.min(maxOutput ?? assumedOutputTokens, modelMax);
    const previous = index === 0 ? { tokens: 0, cost: 0 } : amount;
    amount = {
      tokens: Math.max(previous.tokens, input + output),
      cost: Math.max(previous.cost, computeMaxCost(input, output, priceOf(pool.tier, model), units)),
    };
  }
  return amount;
}
