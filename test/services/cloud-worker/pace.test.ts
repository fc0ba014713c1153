import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Pace, type Allowance } from '#services/cloud-worker/pace.ts';
import type { RateLimit } from '#services/cloud-worker/rate-limits.ts';

let changes: Allowance[];
let pace: Pace;

beforeEach(() => {
  vi.useFakeTimers();
  changes = [];
  pace = new Pace({ slots: 10, onChange: (allowance) => changes.push(allowance) });
});
afterEach(() => {
  pace.close();
  vi.useRealTimers();
});

const full = { slots: 10, accepting: true };
const paused = { slots: 10, accepting: false };
const requests = (remaining: number, resetMs: number, limit: number | undefined = 100): RateLimit => {
  return { name: 'requests', of: 'requests', limit, remaining, resetMs };
};
const tokens = (remaining: number, resetMs: number): RateLimit => {
  return { name: 'tokens', of: 'tokens', limit: 1000, remaining, resetMs };
};

describe('a pause', () => {
  it('lasts as long as the provider asks for', () => {
    pace.pause(5);
    expect(pace.allowance).toEqual(paused);
    vi.advanceTimersByTime(4999);
    expect(pace.allowance).toEqual(paused);
    vi.advanceTimersByTime(2);
    expect(changes).toEqual([paused, full]);
  });

  it('never lasts longer than a minute', () => {
    pace.pause(86_400);
    vi.advanceTimersByTime(60_001);
    expect(pace.allowance).toEqual(full);
  });

  it('grows from one second to thirty if the provider names no time, and starts over once it accepts', () => {
    for (const seconds of [1, 2, 4, 8, 16, 30, 30]) {
      pace.pause(undefined);
      vi.advanceTimersByTime(seconds * 1000 - 1);
      expect(pace.allowance).toEqual(paused);
      vi.advanceTimersByTime(2);
      expect(pace.allowance).toEqual(full);
    }
    pace.accepted();
    pace.pause(undefined);
    vi.advanceTimersByTime(1001);
    expect(pace.allowance).toEqual(full);
  });

  it('is one for all jobs that are refused together, and as long as the longest', () => {
    pace.pause(undefined);
    pace.pause(3);
    pace.pause(undefined);
    vi.advanceTimersByTime(2999);
    expect(pace.allowance).toEqual(paused);
    vi.advanceTimersByTime(2);
    expect(changes).toEqual([paused, full]);
  });
});

describe('a limit', () => {
  it('changes nothing while enough is left of it', () => {
    pace.update([requests(10, 1000), tokens(500, 1000)]);
    expect(changes).toEqual([]);
  });

  it('allows only as many jobs as requests are left, until its window resets', () => {
    pace.update([requests(4, 2000, undefined)]);
    expect(pace.allowance).toEqual({ slots: 4, accepting: true });
    vi.advanceTimersByTime(2001);
    expect(pace.allowance).toEqual(full);
  });

  it('reduces the slots in its last tenth, but not to zero', () => {
    pace.update([tokens(50, 1000)]);
    expect(pace.allowance.slots).toBe(5);
    pace.update([tokens(1, 1000)]);
    expect(pace.allowance).toEqual({ slots: 1, accepting: true });
  });

  it('stops everything when nothing is left', () => {
    pace.update([tokens(0, 3000)]);
    expect(pace.allowance.accepting).toBe(false);
    vi.advanceTimersByTime(3001);
    expect(pace.allowance).toEqual(full);
  });

  it('stops applying when enough is left again, and the strictest of several applies', () => {
    pace.update([requests(2, 5000), tokens(35, 1000)]);
    expect(pace.allowance.slots).toBe(2);
    pace.update([requests(90, 5000)]);
    expect(pace.allowance.slots).toBe(3);
    vi.advanceTimersByTime(1001);
    expect(pace.allowance).toEqual(full);
  });
});
