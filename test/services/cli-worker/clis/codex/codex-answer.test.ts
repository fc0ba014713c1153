import { describe, expect, it } from 'vitest';
import { isJsonObject } from '#shared/core/json.ts';
import type { AnswerPart } from '#services/cli-worker/clis/cli.ts';
import { CodexAnswer } from '#services/cli-worker/clis/codex/codex-answer.ts';
import { cliRecording } from '../../../../helpers/clis/cli-recording.ts';

/** Hears a recording as the session of its last thread does. */
function hear(name: string, threadId?: string): { parts: AnswerPart[]; answer: CodexAnswer } {
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
  it('give thinking, text, and what was counted', async () => {
    const { parts, answer } = hear('thinking');
    expect(parts[0]).toEqual({ kind: 'thinking', text: 'Hm, let me think.' });
    expect(parts.slice(1).map(({ text }) => text)).toEqual(['You ', 'said: ', 'hello ', '[fake ', 'think]']);
    expect(await answer.ended).toMatchObject({ finishReason: 'stop', usage: { promptTokens: 11, cachedTokens: 3 } });
    expect(answer.turnId).toMatch(/^[\da-f-]{36}$/);
  });

  it.each([
    ['429', 'rate_limit_exceeded'],
    ['400', 'invalid_request'],
    ['drop', 'upstream_failed'],
  ])('tell what went wrong: %s', async (name, code) => {
    await expect(hear(name).answer.ended).rejects.toMatchObject({ code });
  });

  it('are not heard by another thread', () => {
    expect(hear('thinking', 'another').parts).toEqual([]);
  });

  it('are context overflows when it says so', async () => {
    const answer = new CodexAnswer('t', () => undefined);
    const error = { message: 'too much', codexErrorInfo: 'contextWindowExceeded' };
    answer.push('turn/completed', { threadId: 't', turn: { status: 'failed', error } });
    await expect(answer.ended).rejects.toMatchObject({ code: 'context_length_exceeded' });
  });
});
