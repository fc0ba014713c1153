import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { until } from './until.ts';

describe('until', () => {
  it('returns once a check is true, or once an assertion holds', async () => {
    let asked = 0;
    await until(() => ++asked === 3);
    expect(asked).toBe(3);
    await until(async () => expect(++asked).toBeGreaterThan(5));
    expect(asked).toBe(6);
  });

  it('rejects with the source of a check that stays false', async () => {
    const never = until(() => [].length > 0, 30);
    await expect(never).rejects.toThrow(/^Still false after 30 ms: .*length > 0/);
    await expect(never).rejects.toHaveProperty('stack', expect.stringContaining('until.test.ts'));
  });

  it('rejects with what a check threw last', async () => {
    let asked = 0;
    await expect(until(() => Promise.reject(new Error(`try ${++asked}`)), 50)).rejects.toThrow(/^try [2-9]/);
  });

  it('gives up in time while timers are faked', async () => {
    vi.useFakeTimers();
    onTestFinished(() => {
      vi.useRealTimers();
    });
    await expect(until(() => false, 30)).rejects.toThrow('Still false');
  });
});
