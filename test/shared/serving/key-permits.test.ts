import { expect, it } from 'vitest';
import { readKeyPermits } from '#shared/serving/key-permits.ts';

it('the permits of a key allow everything without lists', () => {
  const { isRestricted, allowsName, allowsLane } = readKeyPermits({ models: undefined, tiers: undefined });
  expect([isRestricted, allowsName('any'), allowsLane('cli', 'any')]).toEqual([false, true, true]);
});

it('the permits of a key allow the listed names, and `auto` among their models', () => {
  const { isRestricted, allowsName, allowsLane } = readKeyPermits({ models: ['fast', 'qwen3'], tiers: ['gpu'] });
  expect(isRestricted).toBe(true);
  expect(['fast', 'qwen3', 'auto', 'gpt-5'].map(allowsName)).toEqual([true, true, true, false]);
  expect(allowsLane('gpu', 'qwen3')).toBe(true);
  expect(allowsLane('gpu', 'llama')).toBe(false);
  expect(allowsLane('cloud', 'qwen3')).toBe(false);
  // A listed name may have any target.
  expect(allowsLane('gpu')).toBe(true);
});

it('the permits of a key allow any model for `auto` if the list names it', () => {
  const { allowsName, allowsLane } = readKeyPermits({ models: ['auto'], tiers: undefined });
  expect(allowsName('qwen3')).toBe(false);
  expect(allowsLane('cloud', 'qwen3')).toBe(true);
});
