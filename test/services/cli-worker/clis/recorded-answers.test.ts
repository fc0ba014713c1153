import { describe, expect, it } from 'vitest';
import type { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { AnswerPart } from '#services/cli-worker/clis/cli.ts';
import { CodexAnswer } from '#services/cli-worker/clis/codex/codex-answer.ts';
import { OpencodeAnswer } from '#services/cli-worker/clis/opencode/opencode-answer.ts';
import { cliRecording } from '../../../helpers/clis/cli-recording.ts';

/** Readers of the answer of one thread or session. */
const answers = {
  codex: (id: string, onPart: (part: AnswerPart) => void) => new CodexAnswer(id, onPart),
  opencode: (id: string, onPart: (part: AnswerPart) => void) => new OpencodeAnswer(id, onPart),
};
/** Where a recording has the kind of an event, its fields, and the id of its thread or session. */
const names = {
  codex: { kind: 'method', fields: 'params', id: 'threadId' },
  opencode: { kind: 'type', fields: 'properties', id: 'sessionID' },
};

describe.each(['codex', 'opencode'] as const)('the recorded answers of %s', (cli) => {
  /** Replays a recording to an answer of its last thread or session, or of another one. */
  function replay(name: string, other?: string) {
    const { kind, fields, id } = names[cli];
    const events = cliRecording(`${cli}/${name}`).flatMap(({ [kind]: what, [fields]: more }) =>
      typeof what === 'string' && isJsonObject(more) ? [{ what, more }] : [],
    );
    const own = events.map(({ more }) => more[id]).findLast((each) => typeof each === 'string') ?? '';
    const parts: AnswerPart[] = [];
    const answer = answers[cli](other ?? own, (part) => parts.push(part));
    for (const { what, more } of events) answer.push(what, more);
    return { parts, answer };
  }

  it('contain thinking, text and usage, but not the question', async () => {
    const { parts, answer } = replay('thinking');
    expect(parts[0]).toEqual({ kind: 'thinking', text: 'Hm, let me think.' });
    const texts = parts.slice(1).map((part) => part.kind === 'text' && part.text);
    expect(texts).toEqual(['You ', 'said: ', 'hello ', '[fake ', 'think]']);
    expect(await answer.ended).toMatchObject({
      finishReason: 'stop',
      usage: { promptTokens: 11, cachedTokens: 3, completionTokens: 5 },
    });
    if (answer instanceof CodexAnswer) expect(answer.turnId).toMatch(/^[\da-f-]{36}$/);
  });

  it.each([
    ['429', 'rate_limit_exceeded'],
    cli === 'codex' ? ['400', 'invalid_request'] : ['401', 'upstream_failed'],
    ['drop', 'upstream_failed'],
    ...(cli === 'opencode' ? [['cut', 'upstream_failed']] : []),
  ])('fail with the matching error, without retries: %s', async (name, code) => {
    await expect(replay(name).answer.ended).rejects.toMatchObject({ code });
  });

  it('are ignored by an answer of another thread or session', () => {
    expect(replay('thinking', 'another').parts).toEqual([]);
  });
});

it.each([true, false])("Codex's calls of tools stay as the model wrote them (parallel: %s)", async (parallel) => {
  const parts: AnswerPart[] = [];
  let called = 0;
  const names = new Map([['client_f', 'f']]);
  const onCalled = (): void => void (called += 1);
  const answer = new CodexAnswer('t', (part) => parts.push(part), { names, parallel }, onCalled);
  const ids = { threadId: 't', turnId: 'u' };
  const json = '{ "a": 1.0 }';
  const call = (id: string, name: string) => ({ type: 'function_call', call_id: id, name, arguments: json });
  answer.push('turn/started', { ...ids, turn: { id: 'u' } });
  // A call of the history, one of a client's tool, and one of Codex's own tool.
  answer.push('rawResponseItem/completed', { ...ids, turnId: 'history', item: call('call_0', 'client_f') });
  for (const item of [call('call_1', 'client_f'), call('call_2', 'request_user_input'), call('call_3', 'client_f')])
    answer.push('rawResponseItem/completed', { ...ids, item });
  expect(called).toBe(0);
  answer.push('rawResponse/completed', { ...ids, usage: { inputTokens: 11, outputTokens: 7 } });
  expect(called).toBe(1);
  answer.push('item/agentMessage/delta', { ...ids, delta: 'late' });
  answer.push('turn/completed', { ...ids, turn: { id: 'u', status: 'interrupted' } });
  const usage = { promptTokens: 11, completionTokens: 7 };
  expect(await answer.ended).toMatchObject({ finishReason: 'tool_calls', usage });
  const written = { kind: 'call', name: 'f', arguments: json };
  const both = ['call_1', 'call_3'].map((id, index) => ({ ...written, index, id }));
  expect(parts).toEqual(parallel ? both : both.slice(0, 1));
});

it('an answer of Codex is a context overflow when Codex reports one', async () => {
  const answer = new CodexAnswer('t', () => undefined);
  const error = { message: 'too much', codexErrorInfo: 'contextWindowExceeded' };
  answer.push('turn/completed', { threadId: 't', turn: { status: 'failed', error } });
  await expect(answer.ended).rejects.toMatchObject({ code: 'context_length_exceeded' });
});

describe('the error for the limit of a Codex account', () => {
  const error = {
    message: 'You’ve hit your usage limit. Visit https://chatgpt.com/settings/usage or try again later.',
    codexErrorInfo: 'usageLimitExceeded',
  };
  const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

  /** Returns the error of a failed turn, after these limits of the account. */
  function refusedWith(rateLimits: object, failure = error): Promise<unknown> {
    const answer = new CodexAnswer('t', () => undefined);
    answer.push('account/rateLimits/updated', { rateLimits: rateLimits as JsonObject });
    answer.push('turn/completed', { threadId: 't', turn: { status: 'failed', error: failure } });
    return answer.ended.catch((thrown: unknown) => thrown);
  }

  it("has the end of the used-up window, and the upstream's sentence", async () => {
    const primary = { usedPercent: 100, resetsAt: inSeconds(7200) };
    const secondary = { usedPercent: 40, resetsAt: inSeconds(300_000) };
    const refused = (await refusedWith({ primary, secondary })) as RouterError;
    expect(refused).toMatchObject({ code: 'rate_limit_exceeded', message: error.message });
    expect(refused.retryAfter).toBeGreaterThan(7130);
    expect(refused.retryAfter).toBeLessThanOrEqual(7201);
  });

  it('has the time in its sentence where Codex reports no windows, otherwise minutes', async () => {
    const time = new Date(Date.now() + 7_200_000).toLocaleTimeString('en-US', { hour: 'numeric', minute: '2-digit' });
    const timed = { ...error, message: `You’ve hit your usage limit. Try again at ${time}.` };
    const refused = (await refusedWith({ primary: null, secondary: null }, timed)) as RouterError;
    expect(refused.retryAfter).toBeGreaterThan(7130);
    expect(refused.retryAfter).toBeLessThanOrEqual(7200);
    expect(await refusedWith({ primary: null })).toMatchObject({ retryAfter: 300 });
  });
});

it("the error for the limit of an opencode account has the time in the upstream's headers", async () => {
  const answer = new OpencodeAnswer('s', () => undefined);
  const data = { message: 'Too many requests', statusCode: 429, responseHeaders: { 'retry-after': '7200' } };
  answer.push('session.error', { sessionID: 's', error: { name: 'APIError', data } });
  await expect(answer.ended).rejects.toMatchObject({ code: 'rate_limit_exceeded', retryAfter: 7200 });
});
