import { describe, expect, it } from 'vitest';
import { readRateLimits } from '#services/cloud-worker/rate-limits.ts';

const now = Date.parse('2026-11-21T12:00:00Z');

describe('rate limits in headers', () => {
  it('are read by the names of the messages format', () => {
    const headers = {
      'anthropic-ratelimit-requests-limit': '50',
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-requests-reset': '2026-11-21T12:00:30Z',
      'anthropic-ratelimit-output-tokens-limit': '8000',
      'anthropic-ratelimit-output-tokens-remaining': '7000',
      'anthropic-ratelimit-output-tokens-reset': '2026-11-21T11:59:59Z',
      'anthropic-ratelimit-unified-reset': '1795262400',
    };
    expect(readRateLimits(headers, now)).toEqual([
      { name: 'requests', unit: 'requests', limit: 50, remaining: 0, resetMs: 30_000 },
      { name: 'output-tokens', unit: 'tokens', limit: 8000, remaining: 7000, resetMs: 0 },
    ]);
  });

  it.each([
    ['120ms', 120],
    ['6m0s', 360_000],
    ['2m59.56s', 179_560],
    ['1h2m', 3_720_000],
    ['7.66s', 7660],
    ['33011.5', 33_011_500],
    [String(now / 1000 + 5), 5000],
    [String(now + 5000), 5000],
    ['2026-11-21T12:00:05Z', 5000],
    ['nonsense', 60_000],
  ])('are read by the names of the chat format, reset %s', (reset, resetMs) => {
    const headers = {
      'x-ratelimit-limit-tokens': '1000',
      'x-ratelimit-remaining-tokens': '10.5',
      'x-ratelimit-reset-tokens': reset,
    };
    expect(readRateLimits(headers, now)).toEqual([
      { name: 'tokens', unit: 'tokens', limit: 1000, remaining: 10.5, resetMs },
    ]);
  });

  it('may lack name, limit and reset', () => {
    expect(readRateLimits({ 'x-ratelimit-remaining': '4', 'x-ratelimit-reset': '2' }, now)).toEqual([
      { name: 'requests', unit: 'requests', limit: undefined, remaining: 4, resetMs: 2000 },
    ]);
    expect(readRateLimits({ 'x-ratelimit-remaining-req-second': '4' }, now)).toMatchObject([{ resetMs: 1000 }]);
  });

  it('are ignored without a remaining count', () => {
    expect(readRateLimits({ 'x-ratelimit-limit-requests': '4', 'content-type': 'text/plain' }, now)).toEqual([]);
    expect(readRateLimits({ 'x-ratelimit-remaining-requests': '' }, now)).toEqual([]);
  });
});
