import { describe, expect, it } from 'vitest';
import { isJsonObject } from '#shared/core/json.ts';
import type { AnswerPart } from '#services/cli-worker/clis/cli.ts';
import { CodexAnswer } from '#services/cli-worker/clis/codex/codex-answer.ts';
import { cliRecording } from '../../../../helpers/clis/cli-recording.ts';

/** Replays a recording to an answer of its last thread. */
function replay(name: string, threadId?: string): { parts: AnswerPart[]; answer: CodexAnswer } {
  const notifications = cliRecording(`codex/${name}`).flatMap(({ method, params }) =>
    typeof method === 'string' && isJsonObject(params) ? [{ method, params }] : [],
  );
  const own = notifications.map(({ params }) => params['threadId']).findLast((id) => typeof id === 'string') ?? '';
  const parts: AnswerPart[] = [];
  const answer = new CodexAnswer(threadId ?? own, (part) => parts.push(part));
  for (const { method, params } of notifications) answer.push(method, params);
  return { parts, answer };
}

describe("Codex's recorded answers", () => {
  it('have thinking, text and usage', async () => {
    const { parts, answer } = replay('thinking');
    expect(parts[0]).toEqual({ kind: 'thinking', text: 'Hm, let me think.' });
    expect(parts.slice(1).map((part) => part.kind === 'text' && part.text)).toEqual([
      'You ',
      'said: ',
      'hello ',
      '[fake ',
      'think]',
    ]);
    expect(await answer.ended).toMatchObject({ finishReason: 'stop', usage: { promptTokens: 11, cachedTokens: 3 } });
    expect(answer.turnId).toMatch(/^[\da-f-]{36}$/);
  });

  it.each([
    ['429', 'rate_limit_exceeded'],
    ['400', 'invalid_request'],
    ['drop', 'upstream_failed'],
  ])('fail with the matching error: %s', async (name, code) => {
    await expect(replay(name).answer.ended).rejects.toMatchObject({ code });
  });

  it('are ignored by another thread', () => {
    expect(replay('thinking', 'another').parts).toEqual([]);
  });

  it.each([true, false])('have calls of tools as the model wrote them (parallel: %s)', async (parallel) => {
    const parts: AnswerPart[] = [];
    let called = 0;
    const names = new Map([['client_f', 'f']]);
    const onCalled = (): void => void (called += 1);
    const answer = new CodexAnswer('t', (part) => parts.push(part), { names, parallel }, onCalled);
    const ids = { threadId: 't', turnId: 'u' };
    const json = '{ "a": 1.0 }';
    const call = (id: string, name: string) => ({ type: 'function_call', call_id: id, name, arguments: json });
    answer.push('turn/started', { ...ids, turn: { id: 'u' } });
    // Of the history, of the client's, and of a tool of Codex's own.
    answer.push('rawResponseItem/completed', { ...ids, turnId: 'history', item: call('call_0', 'client_f') });
    answer.push('rawResponseItem/completed', { ...ids, item: call('call_1', 'client_f') });
    answer.push('rawResponseItem/completed', { ...ids, item: call('call_2', 'request_user_input') });
    answer.push('rawResponseItem/completed', { ...ids, item: call('call_3', 'client_f') });
    expect(called).toBe(0);
    answer.push('rawResponse/completed', { ...ids, usage: { inputTokens: 11, outputTokens: 7 } });
    expect(called).toBe(1);
    answer.push('item/agentMessage/delta', { ...ids, delta: 'late' });
    answer.push('turn/completed', { ...ids, turn: { id: 'u', status: 'interrupted' } });
    expect(await answer.ended).toMatchObject({
      finishReason: 'tool_calls',
      usage: { promptTokens: 11, completionTokens: 7 },
    });
    const written = ['call_1', ...(parallel ? ['call_3'] : [])].map((id, index) => {
      return { kind: 'call', index, id, name: 'f', arguments: json };
    });
    expect(parts).toEqual(written);
  });

  it('are context overflows when Codex reports one', async () => {
    const answer = new CodexAnswer('t', () => undefined);
    const error = { message: 'too much', codexErrorInfo: 'contextWindowExceeded' };
    answer.push('turn/completed', { threadId: 't', turn: { status: 'failed', error } });
    await expect(answer.ended).rejects.toMatchObject({ code: 'context_length_exceeded' });
  });
});
