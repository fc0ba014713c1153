import { expect, it } from 'vitest';
import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import { responsesUpstream } from '#shared/translate/upstreams/responses/responses-upstream.ts';
import { WholeListener } from '#shared/upstream/whole-listener.ts';
import { errorWith } from '../../helpers/error-with.ts';

function answerOf(body: object, upstream = chatUpstream): object {
  const listener = new WholeListener(upstream);
  listener.onStart(200, { 'content-type': 'application/json' });
  listener.onData(Buffer.from(JSON.stringify(body)));
  return listener.end();
}

it.each([
  [{ message: 'Slow down.', code: 429 }, 'rate_limit_exceeded'],
  [{ message: 'No.', code: 'bad' }, 'upstream_failed'],
  ['No.', 'upstream_failed'],
])('an error that comes with status 200 is an error: %j', (error, code) => {
  expect(() => answerOf({ error })).toThrow(errorWith(code));
});

it('an answer with no error, and a failed response, are none', () => {
  expect(answerOf({ choices: [], error: null })).toEqual({ choices: [], error: null });
  const failed = { object: 'response', status: 'failed', error: { code: 'server_error', message: 'No.' } };
  expect(answerOf(failed, responsesUpstream)).toEqual(failed);
});
