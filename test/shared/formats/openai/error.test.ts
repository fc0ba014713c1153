import { describe, expect, it } from 'vitest';
import { RouterError } from '#shared/core/errors.ts';
import { writeChatErrorEvent } from '#shared/formats/chat/stream-additions.ts';
import { createOpenaiErrorAnswer } from '#shared/formats/openai/error.ts';
import { createModelNotFoundError } from '#shared/serving/resolve-model.ts';

describe("errors of OpenAI's API", () => {
  it('have all four keys', () => {
    const message = "You didn't provide an API key.";
    expect(createOpenaiErrorAnswer(new RouterError('missing_key', message))).toEqual({
      status: 401,
      headers: { 'x-should-retry': 'false' },
      body: { error: { message, type: 'invalid_request_error', param: null, code: null } },
    });
    const unknown = { param: 'model', code: 'model_not_found' };
    expect(createOpenaiErrorAnswer(createModelNotFoundError('nope')).body.error).toMatchObject(unknown);
  });

  it.each([
    [0, '1'],
    [2.1, '3'],
    [86_400, '30'],
    [Number.NaN, '1'],
    [undefined, '2'],
  ])('report a retry after %s s as %s', (retryAfter, header) => {
    const { status, headers } = createOpenaiErrorAnswer(new RouterError('no_worker_available', 'none', { retryAfter }));
    expect(status).toBe(503);
    expect(headers).toEqual({ 'x-should-retry': 'true', 'retry-after': header });
  });

  it.each([
    [3_600.2, { 'retry-after': '3601' }],
    [Number.NaN, {}],
    [undefined, {}],
  ])('report that a budget begins again in %s s, without a retry', (retryAfter, headers) => {
    const answer = createOpenaiErrorAnswer(new RouterError('insufficient_quota', 'used up', { retryAfter }));
    expect(answer).toMatchObject({ status: 429, body: { error: { code: 'insufficient_quota' } } });
    expect(answer.headers).toEqual({ 'x-should-retry': 'false', ...headers });
  });

  it('end a stream as one unnamed event', () => {
    expect(writeChatErrorEvent(new RouterError('worker_lost', 'gone'))).toBe(
      'data: {"error":{"message":"gone","type":"server_error","param":null,"code":"worker_lost"}}\n\n',
    );
  });
});
