import { expect, it } from 'vitest';
import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import { completionsUpstream } from '#shared/translate/same-format/completions-to-completions.ts';
import { responsesUpstream } from '#shared/translate/upstreams/responses/responses-upstream.ts';
import { WholeListener, writeAnswer } from '#shared/upstream/whole-listener.ts';
import { errorWith } from '../../helpers/error-with.ts';

function read(text: string, upstream = chatUpstream) {
  const listener = new WholeListener(upstream, () => undefined);
  listener.onStart(200, { 'content-type': 'application/json' });
  listener.onData(Buffer.from(text));
  return listener.end();
}

const answerOf = (body: object, upstream = chatUpstream) => read(JSON.stringify(body), upstream);

it.each([
  [{ message: 'Slow down.', code: 429 }, 'rate_limit_exceeded'],
  [{ message: 'No.', code: 'bad' }, 'upstream_failed'],
  ['No.', 'upstream_failed'],
])('an error with status 200 is an error: %j', (error, code) => {
  expect(() => answerOf({ error })).toThrow(errorWith(code));
});

it('an answer without an error, and a failed response, are not errors', () => {
  expect(answerOf({ choices: [], error: null })).toEqual({ choices: [], error: null });
  const failed = { object: 'response', status: 'failed', error: { code: 'server_error', message: 'No.' } };
  expect(answerOf(failed, responsesUpstream)).toEqual(failed);
});

it.each([chatUpstream, completionsUpstream])('numbers of $name answers are written as they were', (upstream) => {
  const text = '{"choices":[{"logprobs":{"token_logprobs":[0.0,-1e-7]}}]}';
  expect(writeAnswer(upstream, read(text, upstream))).toBe(text);
});
