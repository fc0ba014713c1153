import { describe, expect, it } from 'vitest';
import { permitsOf } from '#shared/serving/key-permits.ts';

describe("what a key's models and tiers let through", () => {
  it('is everything without them', () => {
    const { restricts, allowsName, allowsLane } = permitsOf({ models: undefined, tiers: undefined });
    expect([restricts, allowsName('any'), allowsLane('cli', 'any')]).toEqual([false, true, true]);
  });

  it('is what they name, and `auto` among that', () => {
    const { restricts, allowsName, allowsLane } = permitsOf({ models: ['fast', 'qwen3'], tiers: ['gpu'] });
    expect(restricts).toBe(true);
    expect(['fast', 'qwen3', 'auto', 'gpt-5'].map(allowsName)).toEqual([true, true, true, false]);
    expect(allowsLane('gpu', 'qwen3')).toBe(true);
    expect(allowsLane('gpu', 'llama')).toBe(false);
    expect(allowsLane('cloud', 'qwen3')).toBe(false);
    // A name that may be asked for may stand for anything.
    expect(allowsLane('gpu')).toBe(true);
  });

  it('is any model for `auto` when that is named too', () => {
    const { allowsName, allowsLane } = permitsOf({ models: ['auto'], tiers: undefined });
    expect(allowsName('qwen3')).toBe(false);
    expect(allowsLane('cloud', 'qwen3')).toBe(true);
  });
});
