import { describe, expect, it } from 'vitest';
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

describe('the estimated amount of a request', () => {
  it('is its input with a margin, and its output limit', () => {
    expect(estimateAmount({ needs, maxOutput: 100 }, [placed('cheap')], priceOf)).toEqual({
      tokens: 500,
      cost: 400 * 1_000 + 100 * 2_000,
    });
  });

  it('is at most the output limit of the model', () => {
    expect(estimateAmount({ needs, maxOutput: 9_000 }, [placed('cheap', 1_000)], priceOf).tokens).toBe(1_400);
  });

  it('has 8,192 tokens of output, or the limit of the model, if the request has no limit', () => {
    const tokens = (maxOutput?: number) =>
      estimateAmount({ needs, maxOutput: undefined }, [placed('cheap', maxOutput)], priceOf).tokens;
    expect([undefined, 64_000, 4_096].map(tokens)).toEqual([400 + 8_192, 400 + 8_192, 400 + 4_096]);
  });

  it('has the price of the most expensive model that may serve, including cache writes', () => {
    const lanes = [placed('free'), placed('dear', 50), placed('cheap')];
    expect(estimateAmount({ needs, maxOutput: 100 }, lanes, priceOf)).toEqual({
      tokens: 500,
      cost: 400 * 3_750 + 50 * 15_000,
    });
  });

  it('costs nothing if no model can serve it', () => {
    expect(estimateAmount({ needs, maxOutput: 100 }, [], priceOf)).toEqual({ tokens: 500, cost: 0 });
  });
});
