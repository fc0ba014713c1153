import { expect, it } from 'vitest';
import { parseToolInput } from '#shared/translate/vocabulary/tool-call.ts';
import { errorWith } from '../../helpers/error-with.ts';
import { readRequest } from '#shared/upstream/read-request.ts';

const nested = (levels: number): string => `{"x":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;

it('the body of a job is accepted with 500 levels', () => {
  const text = nested(500);
  expect(JSON.stringify(readRequest({ body: Buffer.from(text) }).request)).toBe(text);
});

it.each([501, 100_000])('the body of a job is refused without a retry with %i levels', (levels) => {
  const refusal = { message: 'The request is nested too deeply.', movable: false };
  expect(() => readRequest({ body: Buffer.from(nested(levels)) })).toThrow(errorWith('invalid_request', refusal));
});

it('the body of a job is released once it was read', () => {
  const job = { body: Buffer.from('{"model":"m"}') };
  expect(readRequest(job).request).toEqual({ model: 'm' });
  expect(job.body).toHaveLength(0);
});

it('the body of a job may contain deeper arguments of a tool call as text, which stay text', () => {
  expect(parseToolInput(nested(100_000))).toEqual({ _raw: nested(100_000) });
});
