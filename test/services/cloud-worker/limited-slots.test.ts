import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LimitedSlots, type Allowance } from '#services/cloud-worker/limited-slots.ts';
import type { RateLimit } from '#services/cloud-worker/rate-limits.ts';

let changes: Allowance[];
let limited: LimitedSlots;

beforeEach(() => {
  vi.useFakeTimers();
  changes = [];
  limited = new LimitedSlots(10, (allowance) => changes.push(allowance));
});
afterEach(() => {
  limited.close();
  vi.useRealTimers();
});

const full = { slots: 10, accepting: true };
const requests = (remaining: number, resetMs: number, limit: number | undefined = 100): RateLimit => {
  return { name: 'requests', unit: 'requests', limit, remaining, resetMs };
};
const tokens = (remaining: number, resetMs: number): RateLimit => {
  return { name: 'tokens', unit: 'tokens', limit: 1000, remaining, resetMs };
};

describe('a limit', () => {
  it('changes nothing while enough is left of it', () => {
    limited.applyLimits([requests(10, 1000), tokens(500, 1000)]);
    expect(changes).toEqual([]);
  });

  it('allows only as many jobs as requests are left, until its window resets', () => {
    limited.applyLimits([requests(4, 2000, undefined)]);
    expect(limited.allowance).toEqual({ slots: 4, accepting: true });
    vi.advanceTimersByTime(2001);
    expect(limited.allowance).toEqual(full);
  });

  it('reduces the slots in its last tenth, but not to zero', () => {
    limited.applyLimits([tokens(50, 1000)]);
    expect(limited.allowance.slots).toBe(5);
    limited.applyLimits([tokens(1, 1000)]);
    expect(limited.allowance).toEqual({ slots: 1, accepting: true });
  });

  it('stops everything when nothing is left', () => {
    limited.applyLimits([tokens(0, 3000)]);
    expect(limited.allowance.accepting).toBe(false);
    vi.advanceTimersByTime(3001);
    expect(limited.allowance).toEqual(full);
    limited.applyLimits([requests(0, 7_200_000)]);
    expect((limited.allowance.resumesAt ?? 0) - Date.now()).toBe(7_200_000);
    vi.advanceTimersByTime(60_001);
    expect(limited.allowance).toEqual(full);
  });

  it('that is exhausted reports a later end, but not each answer that names the same end', () => {
    limited.applyLimits([requests(0, 10_000)]);
    limited.applyLimits([requests(0, 10_050)]);
    expect(changes).toHaveLength(1);
    limited.applyLimits([tokens(0, 7_200_000)]);
    expect(changes.map(({ resumesAt = 0 }) => resumesAt - Date.now())).toEqual([10_000, 7_200_000]);
  });

  it('stops applying when enough is left again, and the strictest of several applies', () => {
    limited.applyLimits([requests(2, 5000), tokens(35, 1000)]);
    expect(limited.allowance.slots).toBe(2);
    limited.applyLimits([requests(90, 5000)]);
    expect(limited.allowance.slots).toBe(3);
    vi.advanceTimersByTime(1001);
    expect(limited.allowance).toEqual(full);
  });
});
