import { describe, expect, it } from 'vitest';
import type { LivePool } from '#shared/broker/dispatch/workers/live-pool.ts';
import type { Tier } from '#shared/core/tier.ts';
import { estimateAmount } from '#shared/serving/estimate-amount.ts';

const prices: Record<string, { input: number; output: number; cacheWrite?: number }> = {
  cheap: { input: 1, output: 2 },
  dear: { input: 3, output: 15, cacheWrite: 3.75 },
};
const priceOf = (_: Tier | undefined, model: string) => prices[model];

function placed(model: string, maxOutput?: number) {
  const models = [{ id: model, capabilities: [], maxOutput }];
  const pool: LivePool = {
    tier: 'cloud',
    pool: model,
    contract: 1,
    formats: ['chat'],
    models,
    tools: [],
    workers: new Set(),
    waiting: 0,
  };
  return { pool, model };
}

const needs = { tools: false, vision: false, thinking: false, json: false, inputTokens: 300 };

describe('what a request may come to', () => {
  it('is its input with a margin, and the output that it asks for', () => {
    expect(estimateAmount({ needs, maxOutput: 100 }, [placed('cheap')], priceOf)).toEqual({
      tokens: 500,
      cost: 400 * 1_000 + 100 * 2_000,
    });
  });

  it('is no more than the model can give', () => {
    expect(estimateAmount({ needs, maxOutput: 9_000 }, [placed('cheap', 1_000)], priceOf).tokens).toBe(1_400);
  });

  it('is 8,192 tokens of output, or what the model can give, when nobody sets a limit', () => {
    expect(estimateAmount({ needs, maxOutput: undefined }, [placed('cheap')], priceOf).tokens).toBe(400 + 8_192);
    expect(estimateAmount({ needs, maxOutput: undefined }, [placed('cheap', 64_000)], priceOf).tokens).toBe(
      400 + 8_192,
    );
    expect(estimateAmount({ needs, maxOutput: undefined }, [placed('cheap', 4_096)], priceOf).tokens).toBe(400 + 4_096);
  });

  it('is at the price of the dearest model that may serve, its cache written to', () => {
    const lanes = [placed('free'), placed('dear', 50), placed('cheap')];
    expect(estimateAmount({ needs, maxOutput: 100 }, lanes, priceOf)).toEqual({
      tokens: 500,
      cost: 400 * 3_750 + 50 * 15_000,
    });
  });

  it('costs nothing that is known while nobody can serve it', () => {
    expect(estimateAmount({ needs, maxOutput: 100 }, [], priceOf)).toEqual({ tokens: 500, cost: 0 });
  });
});
