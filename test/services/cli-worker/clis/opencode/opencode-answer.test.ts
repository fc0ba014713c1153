import { describe, expect, it } from 'vitest';
import { isJsonObject } from '#shared/core/json.ts';
import type { AnswerPart } from '#services/cli-worker/clis/cli.ts';
import { OpencodeAnswer } from '#services/cli-worker/clis/opencode/opencode-answer.ts';
import { cliRecording } from '../../../../helpers/clis/cli-recording.ts';

function hear(name: string, sessionId?: string): { parts: AnswerPart[]; answer: OpencodeAnswer } {
  const events = cliRecording(`opencode/${name}`).flatMap(({ type, properties }) =>
    typeof type === 'string' && isJsonObject(properties) ? [{ type, properties }] : [],
  );
  const own = events.map(({ properties }) => properties['sessionID']).find((id) => typeof id === 'string') ?? '';
  const parts: AnswerPart[] = [];
  const answer = new OpencodeAnswer(sessionId ?? own, (part) => parts.push(part));
  for (const { type, properties } of events) answer.push(type, properties);
  return { parts, answer };
}

describe("opencode's recorded answers", () => {
  it('give thinking, text, and what was counted, but not the question', async () => {
    const { parts, answer } = hear('thinking');
    expect(parts[0]).toEqual({ kind: 'thinking', text: 'Hm, let me think.' });
    expect(parts.slice(1).map(({ text }) => text)).toEqual(['You ', 'said: ', 'hello ', '[fake ', 'think]']);
    expect(await answer.ended).toMatchObject({
      finishReason: 'stop',
      usage: { promptTokens: 11, cachedTokens: 3, completionTokens: 5 },
    });
  });

  it.each([
    ['429', 'rate_limit_exceeded'],
    ['401', 'upstream_failed'],
    ['drop', 'upstream_failed'],
    ['cut', 'upstream_failed'],
  ])('tell what went wrong, at once where it would try again: %s', async (name, code) => {
    await expect(hear(name).answer.ended).rejects.toMatchObject({ code });
  });

  it('are not heard by another session', () => {
    expect(hear('thinking', 'another').parts).toEqual([]);
  });
});
