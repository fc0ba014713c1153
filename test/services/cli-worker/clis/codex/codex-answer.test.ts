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
    expect(parts.slice(1).map(({ text }) => text)).toEqual(['You ', 'said: ', 'hello ', '[fake ', 'think]']);
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

  it('are context overflows when Codex reports one', async () => {
    const answer = new CodexAnswer('t', () => undefined);
    const error = { message: 'too much', codexErrorInfo: 'contextWindowExceeded' };
    answer.push('turn/completed', { threadId: 't', turn: { status: 'failed', error } });
    await expect(answer.ended).rejects.toMatchObject({ code: 'context_length_exceeded' });
  });
});
