import { describe, expect, it } from 'vitest';
import type { Batch } from '#services/console/contract/batches.ts';
import { BatchRates, countsText, doneOf, rateText, stateOf } from '#services/console/web/pages/batches/batch-state.ts';

const now = Date.UTC(2026, 10, 24);

const none = { cancelled: 0, expired: 0, promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 };

function batch(change: Partial<Batch>): Batch {
  const facts = { id: 'batch_1', endpoint: '/v1/chat/completions', state: 'running', cost: 0 } as const;
  const times = { createdAt: now - 100_000, runningAt: now - 50_000, expiresAt: now + 3_600_000 };
  const counts = { ...none, total: 1_000, succeeded: 90, errored: 10 };
  const owner = { kind: 'user', id: 'u', name: 'Ada' } as const;
  return { ...facts, ...times, ...counts, owner, mayCancel: true, mayRead: true, ...change };
}

it.each([
  ['Checking', { state: 'validating' }],
  ['Running', {}],
  ['Waiting', { paused: { reason: 'The budget is used up.', until: now } }],
  ['Finishing', { state: 'finishing' }],
  ['Complete', { state: 'ended' }],
  ['Expired', { state: 'ended', expired: 3 }],
  ['Cancelled', { state: 'ended', cancelledAt: now, cancelled: 3 }],
  ['Cancelling', { cancelledAt: now }],
  ['Failed', { state: 'failed' }],
] as const)('the state of a batch is %s', (word, change) => {
  expect(stateOf(batch(change)).word).toBe(word);
});

describe('the lines of a batch', () => {
  it('count as done only if they were run, also in a batch that was cancelled or has expired', () => {
    const counts = { total: 1_200, succeeded: 7, errored: 1, cancelled: 1_000, expired: 192 };
    const ended = batch({ state: 'ended', cancelledAt: now, ...counts });
    expect(doneOf(ended)).toBe(8);
    expect(countsText(ended)).toBe('8 of 1,200, 1 failed, 1,000 cancelled, 192 expired');
  });

  it('are not counted at first, and none is run in a batch that fails', () => {
    expect(countsText(batch({}))).toBe('100 of 1,000, 10 failed');
    expect(countsText(batch({ state: 'validating', total: 0 }))).toBe('not counted yet');
    expect(countsText(batch({ state: 'failed', total: 0 }))).toBe('no request was run');
  });
});

describe('the rate of a batch', () => {
  it('is known from the first fetch on, and follows the last minute', () => {
    const rates = new BatchRates();
    const first = batch({});
    expect(rateText(first, rates.note(first, now), now)).toBe('2 a second · ends in 8 minutes');
    const later = batch({ succeeded: 690 });
    expect(rateText(later, rates.note(later, now + 60_000), now + 60_000)).toBe('10 a second · ends in a moment');
  });

  it('is shown per minute when it is slow, and as none when no request has ended', () => {
    const rates = new BatchRates();
    const slow = batch({ succeeded: 5, errored: 0 });
    expect(rateText(slow, rates.note(slow, now), now)).toBe('6 a minute · ends in 3 hours, but expires in 1 hour');
    const fresh = batch({ id: 'batch_2', succeeded: 0, errored: 0 });
    expect(rateText(fresh, rates.note(fresh, now), now)).toBe('no request has ended yet');
    const still = batch({ id: 'batch_3' });
    const paces = [now, now + 90_000].map((at) => rateText(still, rates.note(still, at), at));
    expect(paces).toEqual(['2 a second · ends in 8 minutes', 'no request has ended lately']);
  });

  it('is replaced by the reason why a batch waits, and is empty for a batch that has ended', () => {
    const reason = 'The budget of the month is used up.';
    expect(rateText(batch({ paused: { reason, until: now } }), undefined, now)).toBe(reason);
    expect(rateText(batch({ state: 'ended' }), undefined, now)).toBe('');
    expect(rateText(batch({ cancelledAt: now }), undefined, now)).toBe('');
    expect(new BatchRates().note(batch({ state: 'ended' }), now)).toBeUndefined();
  });
});
