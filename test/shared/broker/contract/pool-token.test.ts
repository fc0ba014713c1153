import { expect, it } from 'vitest';
import { computePoolDigest, derivePoolToken } from '#shared/broker/contract/pool-token.ts';
import { least } from '../../../helpers/least.ts';

const range = (oldest: number, newest: number) => ({ oldest, newest });

it("a pool's token is the same for the same formats and models in any order, and another for any other fact", () => {
  const a = { id: 'a', capabilities: ['stream', 'tools'] as ('stream' | 'tools')[] };
  const b = { id: 'b', capabilities: [], contextWindow: 4096, lacks: ['pdf@chat', 'pdf@messages'] };
  const contract = range(1, 1);
  const facts = { tier: 'gpu' as const, kind: 'vllm', formats: ['chat', 'messages'], models: [a, b], contract };
  const pool = derivePoolToken(facts);
  const reordered = [
    { ...b, lacks: b.lacks.toReversed() },
    { ...a, capabilities: ['tools', 'stream'] as ('stream' | 'tools')[] },
  ];
  expect(derivePoolToken({ ...facts, formats: ['messages', 'chat'], models: reordered })).toBe(pool);
  expect(pool).toMatch(/^vllm-[0-9a-f]{12}$/);
  const others = [
    derivePoolToken({ ...facts, tier: 'cloud' }),
    // Two sides that speak different versions never share a lane.
    derivePoolToken({ ...facts, contract: range(1, 2) }),
    derivePoolToken({ ...facts, contract: range(2, 2) }),
    derivePoolToken({ ...facts, kind: 'ollama' }),
    derivePoolToken({ ...facts, formats: ['chat'] }),
    derivePoolToken({ ...facts, models: [a] }),
    derivePoolToken({ ...facts, models: [a, { ...b, contextWindow: 8192 }] }),
    derivePoolToken({ ...facts, models: [a, { ...b, maxOutput: 4096 }] }),
    derivePoolToken({ ...facts, models: [a, { ...b, lacks: ['pdf@chat'] }] }),
  ];
  expect(new Set([pool, ...others]).size).toBe(others.length + 1);
});

it('the digest of a pool costs less than 10 ms for 3,900 models that share a list of a hundred features', async () => {
  const lacks = Array.from({ length: 100 }, (_, at) => `${'feature'.repeat(8)}-${at}`);
  const models = Array.from({ length: 3_900 }, (_, at) => ({ id: `vendor/model-${at}`, capabilities: [], lacks }));
  const measure = (): Promise<number> => {
    const begin = performance.now();
    computePoolDigest({ tier: 'gpu', kind: 'vllm', formats: ['chat'], models });
    return Promise.resolve(performance.now() - begin);
  };
  expect(await least(measure, 10, 20)).toBeLessThan(10);
});
