import { describe, expect, it } from 'vitest';
import type { UsageRequest } from '#services/console/contract/usage.ts';
import { stagesOf } from '#services/console/web/pages/requests/stages-of.ts';

const attempt = { worker: 'one', offered: true, waitMs: 0, givenMs: 1, begunMs: 2, firstMs: 10, endMs: 90 };

const labels = (end: string, request: Partial<UsageRequest> = {}): string[] => {
  const timeline = [{ ...attempt, end }];
  return stagesOf({ timeline, worker: 'one', totalMs: 95, ...request } as UsageRequest).map(({ label }) => label);
};

describe("a request's course", () => {
  it('has a last line for the wait after an attempt that did not end the request', () => {
    expect(labels('worker_lost', { code: 'no_worker' })).toEqual(['1. one, by an offer,', 'No other worker']);
    expect(labels('refused', { outcome: 'cancelled' })).toHaveLength(2);
  });

  it('has none where the attempt ended the request, whose record is written a little later', () => {
    expect(labels('done')).toEqual(['1. one, by an offer,']);
    expect(labels('cancelled')).toHaveLength(1);
    expect(labels('engine_error', { code: 'engine_error' })).toHaveLength(1);
  });
});
