import { describe, expect, it } from 'vitest';
import { RouterError } from '#shared/core/errors.ts';
import { createOverflowError } from '#shared/formats/context-overflow.ts';
import { createMessagesErrorAnswer, writeMessagesErrorEvent } from '#shared/formats/messages/error.ts';
import { createUnsupportedMessagesError } from '#shared/translate/unsupported.ts';
import { createModelNotFoundError } from '#shared/serving/resolve-model.ts';

describe("the messages format's errors", () => {
  it('have the request id, and status 529 for overload', () => {
    expect(createMessagesErrorAnswer(new RouterError('overloaded', 'Overloaded', { retryAfter: 5 }), 'req_1')).toEqual({
      status: 529,
      headers: { 'x-should-retry': 'true', 'retry-after': '5' },
      body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, request_id: 'req_1' },
    });
  });

  it("have the details of the router's error", () => {
    const details = { error_code: 'thread_unsupported_request', unsupported: ['thread'] };
    const error = new RouterError('invalid_request', 'no threads', { details });
    const expected = { type: 'invalid_request_error', message: 'no threads', details };
    expect(createMessagesErrorAnswer(error, 'r').body.error).toEqual(expected);
  });

  it.each([
    [
      createOverflowError({ input: 250, output: 9, maximum: 200 }),
      'prompt is too long: 250 tokens > 200 maximum (capability_rejected: prompt_too_long)',
    ],
    [
      createUnsupportedMessagesError('messages.0.content.0.type', 'images', 'image_block'),
      'messages.0.content.0.type: the model that serves this request cannot take images (capability_rejected: image_block)',
    ],
    [createModelNotFoundError('gpt-x'), 'model: gpt-x'],
    [new RouterError('invalid_api_key', 'Incorrect API key provided: rtr_…'), 'invalid x-api-key'],
    [new RouterError('invalid_api_key', 'Incorrect API key.', { param: 'authorization' }), 'Invalid bearer token'],
  ])('have the text that clients parse: %s', (error, text) => {
    expect(createMessagesErrorAnswer(error, 'r').body.error.message).toBe(text);
  });

  it('of an upstream of the same format pass as it wrote them, with its headers', () => {
    const headers = { 'retry-after': '3600', 'x-should-retry': 'false', 'anthropic-ratelimit-unified-status': 'full' };
    const quoted = { type: 'rate_limit_error', message: 'Full.', details: { code: 7 } };
    const body = { type: 'error', error: quoted, more: 1 };
    const error = new RouterError('rate_limit_exceeded', 'The upstream limits the rate.', { retryAfter: 3600 });
    const given = { ...headers, 'set-cookie': 'a=b' };
    const messages = error.withOriginal({ format: 'messages', status: 429, body, headers: given });
    const passed = { ...body, request_id: 'r' };
    expect(createMessagesErrorAnswer(messages, 'r')).toEqual({ status: 429, headers, body: passed });
    expect(writeMessagesErrorEvent(messages, 'r')).toBe(`event: error\ndata: ${JSON.stringify(passed)}\n\n`);
    const other = error.withOriginal({ format: 'another', status: 429, body, headers });
    expect(createMessagesErrorAnswer(other, 'r')).toMatchObject({
      headers: { 'retry-after': '3600' },
      body: { error: { message: 'The upstream limits the rate.' } },
    });
  });

  it('end a stream as a named event', () => {
    expect(writeMessagesErrorEvent(new RouterError('upstream_timeout', 'slow'), 'r')).toBe(
      'event: error\ndata: {"type":"error","error":{"type":"timeout_error","message":"slow"},"request_id":"r"}\n\n',
    );
  });
});
