import { describe, expect, it } from 'vitest';
import type { UsageRequest } from '#services/console/contract/usage.ts';
import { toTimeline, computeTokensPerSecond } from '#services/console/web/pages/requests/to-timeline.ts';
import { ledgerRecord } from '../../../../helpers/accounts/ledger-record.ts';

const times = { queueMs: 10, firstTokenMs: 60, totalMs: 260, completionTokens: 50 };
const request = ledgerRecord({ worker: 'w', owner: undefined, ...times }) as UsageRequest;

const lost = { worker: 'a', offered: true, waitMs: 0, givenMs: 1, begunMs: 3, endMs: 40, end: 'worker_lost' };
const given = { worker: 'b', offered: false, waitMs: 40, givenMs: 45, begunMs: 46 };
const served = { ...given, firstMs: 60, endMs: 260, end: 'done' };

/** Returns the lines of a request's course, each with its end and its stages. */
const course = (more: Partial<UsageRequest> = {}): unknown[] =>
  toTimeline({ ...request, ...more }).map(({ label, end, stages }) => [
    label,
    end,
    ...stages.map(({ name, from, to }) => `${name} ${from}-${to}`),
  ]);

describe('the course of a request', () => {
  it('has a line for each attempt, with its stages', () => {
    expect(course({ timeline: [lost, served] })).toEqual([
      ['1. a, by an offer,', 'worker_lost', 'waiting 0-1', 'offered 1-3', 'working 3-40'],
      ['2. b, by a claim,', 'done', 'waiting 40-45', 'working 45-60', 'answering 60-260'],
    ]);
  });

  it('ends with the wait for a second worker that never claimed the request', () => {
    const rows = course({ timeline: [lost], totalMs: 5_040 });
    expect(rows.at(-1)).toEqual(['No other worker', undefined, 'waiting 40-5040']);
  });

  it('has no line for a wait where the attempt ended the request and its record was written a little later', () => {
    const rows = (end: string, more: Partial<UsageRequest> = {}) =>
      course({ ...more, timeline: [{ ...served, end }], totalMs: 265 });
    for (const end of ['done', 'cancelled']) expect(rows(end)).toHaveLength(1);
    expect(rows('engine_error', { code: 'engine_error' })).toHaveLength(1);
    expect(rows('refused', { outcome: 'cancelled' })).toHaveLength(2);
    expect(rows('worker_lost', { code: 'no_worker' })).toHaveLength(2);
  });

  it('has one line with the known times for a record without attempts', () => {
    expect(course()).toEqual([['w', undefined, 'waiting 0-10', 'working 10-60', 'answering 60-260']]);
  });
});

it('tokens per second are counted over the answer without the wait, and not for an answer that came at once', () => {
  expect(computeTokensPerSecond(request)).toBe(250);
  expect(computeTokensPerSecond({ ...request, firstTokenMs: 259 })).toBeUndefined();
  expect(computeTokensPerSecond({ ...request, firstTokenMs: undefined })).toBeUndefined();
});
