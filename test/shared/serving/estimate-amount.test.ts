import { expect, it } from 'vitest';
import type { Tier } from '#shared/core/tier.ts';
import { estimateAmount } from '#shared/serving/estimate-amount.ts';
import { livePool } from '../../helpers/broker/live-pool.ts';

const prices: Record<string, { input: number; output: number; cacheWrite?: number }> = {
  cheap: { input: 1, output: 2 },
  dear: { input: 3, output: 15, cacheWrite: 3.75 },
};
const priceOf = (_: Tier | undefined, model: string) => prices[model];

function placed(model: string, maxOutput?: number) {
  const models = [{ id: model, capabilities: [], maxOutput }];
  return { pool: livePool({ tier: 'cloud', pool: model, models }, []), model };
}

const needs = { tools: false, vision: false, thinking: false, json: false, inputTokens: 300 };

it.each([
  ['is its input with a margin, and its output limit', 100, [placed('cheap')], 500, 400 * 1_000 + 100 * 2_000],
  ['has at most the output limit of the model', 9_000, [placed('cheap', 1_000)], 1_400, undefined],
  ['has 8,192 tokens of output without a limit', undefined, [placed('cheap')], 400 + 8_192, undefined],
  ['has them for a model that can write more', undefined, [placed('cheap', 64_000)], 400 + 8_192, undefined],
  ['has the limit of a model that cannot', undefined, [placed('cheap', 4_096)], 400 + 4_096, undefined],
  [
    'has the price of the most expensive model that may serve, including cache writes',
    100,
    [placed('free'), placed('dear', 50), placed('cheap')],
    500,
    400 * 3_750 + 50 * 15_000,
  ],
  ['costs nothing if no model can serve it', 100, [], 500, 0],
])('the estimated amount of a request %s', (_, maxOutput, lanes, tokens, cost) => {
  const amount = estimateAmount({ needs, maxOutput }, lanes, priceOf);
  expect(amount).toEqual({ tokens, cost: cost ?? amount.cost });
});
