import { describe, expect, it } from 'vitest';
import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { Tier } from '#shared/core/tier.ts';
import { noUsage, type Usage } from '#shared/core/usage.ts';
import { capUsage, type UsageBounds } from '#shared/serving/cap-usage.ts';
import { livePool } from '../../helpers/broker/live-pool.ts';

const noNeeds = { tools: false, vision: false, thinking: false, json: false, inputTokens: 25 };
const impossible = 9e15;
const input = { promptTokens: impossible, cachedTokens: impossible, cacheWriteTokens: impossible };
const tokens = {
  ...input,
  hourCacheWriteTokens: impossible,
  completionTokens: impossible,
  reasoningTokens: impossible,
};
const units = { images: impossible, seconds: impossible, characters: impossible, searches: impossible };
const lie: Usage = { ...tokens, units };

interface Facts extends Partial<UsageBounds> {
  tier?: Tier;
  model?: Partial<ModelInfo>;
  answerBytes?: number;
}

function held(usage: Usage, { tier = 'gpu', model, answerBytes = 80, ...bounds }: Facts = {}): Usage {
  const pool = livePool({ tier, pool: 'p', models: [{ id: 'm', capabilities: [], ...model }] }, [{ id: 'w' }]);
  const attempt = { placement: { pool, model: 'm' } } as unknown as JobReport['attempt'];
  return capUsage(usage, { attempt, answerBytes }, { needs: noNeeds, maxOutput: undefined, bodyBytes: 100, ...bounds });
}

describe('usage that a worker reports', () => {
  it("has at most the output of the request's limit, or of the bytes of the answer", () => {
    expect(held(lie, { maxOutput: 10 }).completionTokens).toBe(80);
    expect(held(lie, { maxOutput: 200 }).completionTokens).toBe(200);
    expect(held(lie, { maxOutput: 200, answerBytes: 5_000 }).completionTokens).toBe(5_000);
    expect(held(lie, { maxOutput: 200, model: { maxOutput: 100 } }).completionTokens).toBe(100);
  });

  it("has at most the model's output if the request has no limit, or if its agent ignores limits", () => {
    expect(held(lie, { model: { contextWindow: 8_192 } }).completionTokens).toBe(8_192);
    expect(held(lie, { model: { contextWindow: 8_192, maxOutput: 4_096 } }).completionTokens).toBe(4_096);
    expect(held(lie).completionTokens).toBe(131_072);
    expect(held(lie, { model: { contextWindow: 1e8 } }).completionTokens).toBe(1_048_576);
    expect(held(lie, { tier: 'cli', maxOutput: 10, model: { maxOutput: 32_000 } }).completionTokens).toBe(32_000);
  });

  it('has at most the input of its body and of what an engine or an agent adds', () => {
    expect(held(lie).promptTokens).toBe(100 + 32_768);
    expect(held(lie, { bodyBytes: 4_000_000 }).promptTokens).toBe(4_032_768);
    expect(held(lie, { bodyBytes: 4_000_000, model: { contextWindow: 8_192 } }).promptTokens).toBe(8_192);
    expect(held(lie, { tier: 'cloud' }).promptTokens).toBe(1_000_100);
    const many = { needs: { ...noNeeds, longestInput: 5 }, bodyBytes: 100_000 };
    expect(held(lie, { ...many, model: { contextWindow: 512 } }).promptTokens).toBe(132_768);
  });

  it('has parts that are at most as large as their sum', () => {
    const { promptTokens, completionTokens, ...parts } = held(lie, { maxOutput: 10 });
    expect(parts).toMatchObject({
      cachedTokens: promptTokens,
      cacheWriteTokens: promptTokens,
      hourCacheWriteTokens: promptTokens,
      reasoningTokens: completionTokens,
    });
  });

  it('has at most the units that were requested or sent', () => {
    expect(held(lie).units).toEqual({ images: 0, seconds: 1, characters: 100, searches: 1_000 });
    expect(held(lie, { units: { images: 3 }, bodyBytes: 25_000 }).units).toMatchObject({ images: 3, seconds: 100 });
  });

  it('stays as reported if it is possible', () => {
    const usage = { ...noUsage, promptTokens: 90, cachedTokens: 64, completionTokens: 20, reasoningTokens: 4 };
    expect(held(usage, { maxOutput: 32 })).toEqual(usage);
    expect(held({ ...usage, completionTokens: 20_000 }, { tier: 'cli', maxOutput: 10 }).completionTokens).toBe(20_000);
  });
});
