import { describe, expect, it } from 'vitest';
import type { UsageRequest } from '#services/console/contract/usage.ts';
import { stagesOf, tokensPerSecond } from '#services/console/web/pages/requests/stages-of.ts';

const request: UsageRequest = {
  id: 'r',
  at: 0,
  key: { id: 'k', name: 'k' },
  format: 'chat',
  operation: 'generate',
  asked: 'm',
  worker: 'w',
  outcome: 'done',
  attempts: 1,
  queueMs: 10,
  firstTokenMs: 60,
  totalMs: 260,
  promptTokens: 1,
  cachedTokens: 0,
  completionTokens: 50,
  reasoningTokens: 0,
  cost: 0,
};

const lost = { worker: 'a', offered: true, waitMs: 0, givenMs: 1, begunMs: 3, endMs: 40, end: 'worker_lost' };
const served = {
  worker: 'b',
  offered: false,
  waitMs: 40,
  givenMs: 45,
  begunMs: 46,
  firstMs: 60,
  endMs: 260,
  end: 'done',
};

describe('the course of a request', () => {
  it('has a line for each attempt, with its stages', () => {
    expect(stagesOf({ ...request, timeline: [lost, served] })).toEqual([
      {
        label: '1. a, by an offer,',
        end: 'worker_lost',
        stages: [
          { name: 'waiting', from: 0, to: 1 },
          { name: 'offered', from: 1, to: 3 },
          { name: 'working', from: 3, to: 40 },
        ],
      },
      {
        label: '2. b, by a claim,',
        end: 'done',
        stages: [
          { name: 'waiting', from: 40, to: 45 },
          { name: 'working', from: 45, to: 60 },
          { name: 'answering', from: 60, to: 260 },
        ],
      },
    ]);
  });

  it('ends with the wait for a worker that never came', () => {
    const rows = stagesOf({ ...request, timeline: [lost], totalMs: 5_040 });
    expect(rows.at(-1)).toEqual({ label: 'No other worker', stages: [{ name: 'waiting', from: 40, to: 5_040 }] });
  });

  it('has no line for a wait where the attempt ended the request, whose record is written a little later', () => {
    const rows = (end: string, more: Partial<UsageRequest> = {}) =>
      stagesOf({ ...request, ...more, timeline: [{ ...served, end }], totalMs: 265 });
    for (const end of ['done', 'cancelled']) expect(rows(end)).toHaveLength(1);
    expect(rows('engine_error', { code: 'engine_error' })).toHaveLength(1);
    expect(rows('refused', { outcome: 'cancelled' })).toHaveLength(2);
    expect(rows('worker_lost', { code: 'no_worker' })).toHaveLength(2);
  });

  it('is what is known of a record of an older release', () => {
    expect(stagesOf(request)).toEqual([
      {
        label: 'w',
        stages: [
          { name: 'waiting', from: 0, to: 10 },
          { name: 'working', from: 10, to: 60 },
          { name: 'answering', from: 60, to: 260 },
        ],
      },
    ]);
  });
});

it('tokens per second are counted over the answer, not the wait, and not of an answer that came at once', () => {
  expect(tokensPerSecond(request)).toBe(250);
  expect(tokensPerSecond({ ...request, firstTokenMs: 259 })).toBeUndefined();
  expect(tokensPerSecond({ ...request, firstTokenMs: undefined })).toBeUndefined();
});
