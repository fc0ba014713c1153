import { describe, expect, it } from 'vitest';
import { createOpenaiLimitHeaders } from '#shared/formats/openai/openai-format.ts';
import { createMessagesLimitHeaders } from '#shared/formats/messages/headers.ts';

const at = Date.UTC(2026, 10, 21);

describe('rate-limit headers', () => {
  it.each([
    [0, '0ms'],
    [20, '20ms'],
    [1_000, '1s'],
    [59_001, '1m0s'],
    [360_000, '6m0s'],
    [86_399_000, '23h59m59s'],
  ])('report %i ms in the chat format as %s', (ms, text) => {
    const requests = { limit: 60, remaining: 3, resetsAt: at + ms };
    expect(createOpenaiLimitHeaders({ at, requests, tokens: undefined })).toEqual({
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '3',
      'x-ratelimit-reset-requests': text,
    });
  });

  it('report the time of day in the messages format', () => {
    const tokens = { limit: 1_000, remaining: 0, resetsAt: at + 1_500 };
    expect(createMessagesLimitHeaders({ at, requests: undefined, tokens })).toEqual({
      'anthropic-ratelimit-tokens-limit': '1000',
      'anthropic-ratelimit-tokens-remaining': '0',
      'anthropic-ratelimit-tokens-reset': '2026-11-21T00:00:01.500Z',
    });
  });

  it('are missing without limits', () => {
    expect(createOpenaiLimitHeaders({ at, requests: undefined, tokens: undefined })).toEqual({});
  });
});
