import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { readFailure, readResponseError } from '#shared/translate/upstreams/responses/upstream-error.ts';

describe('an error inside a Responses answer', () => {
  it.each([
    ['server_error', 'upstream_failed', true],
    ['rate_limit_exceeded', 'rate_limit_exceeded', true],
    ['server_is_overloaded', 'overloaded', true],
    ['slow_down', 'overloaded', true],
    ['vector_store_timeout', 'upstream_timeout', true],
    ['insufficient_quota', 'upstream_failed', true],
    ['invalid_prompt', 'invalid_request', false],
    ['image_content_policy_violation', 'invalid_request', false],
    ['context_length_exceeded', 'context_length_exceeded', false],
    ['something_new', 'upstream_failed', true],
  ])('with code %s becomes %s, which moves: %j', (code, expected, movable) => {
    const error = readFailure({ status: 'failed', error: { code, message: 'Sorry.' } });
    expect(error).toMatchObject({ code: expected, movable });
  });

  it('keeps the wait that its message names', () => {
    const waiting = (message: string) => readResponseError({ code: 'rate_limit_exceeded', message }).retryAfter;
    expect(waiting('Rate limit reached. Please try again in 1.5s.')).toBe(1.5);
    expect(waiting('Rate limit reached. Please try again in 250ms. Visit …')).toBe(1);
    expect(waiting('Rate limit reached.')).toBeUndefined();
  });

  it('keeps the counts of a request that does not fit', () => {
    const message = 'maximum context length is 100 tokens. However, your messages resulted in 120 tokens';
    const error = readResponseError({ code: 'context_length_exceeded', message });
    expect(error.details).toMatchObject({ input_tokens: '120', maximum_tokens: '100' });
  });

  it('may be an event with its fields at the top or nested', () => {
    const fields = { code: 'server_is_overloaded', message: 'Busy.', param: null };
    const codeOf = (event: JsonObject) => readResponseError({ type: 'error', ...event }).code;
    expect([codeOf(fields), codeOf({ error: fields })]).toEqual(['overloaded', 'overloaded']);
    expect(codeOf({ error: { code: 400, message: 'No.' } })).toBe('invalid_request');
  });

  it('is not found in a response that continues or has ended well', () => {
    for (const status of ['in_progress', 'completed', 'incomplete']) {
      expect(readFailure({ status, error: null })).toBeUndefined();
    }
    expect(readFailure({ status: 'cancelled' })?.code).toBe('upstream_failed');
  });
});
