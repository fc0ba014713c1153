import { describe, expect, it } from 'vitest';
import { isJsonObject } from '#shared/core/json.ts';
import type { AnswerPart } from '#services/cli-worker/clis/cli.ts';
import { OpencodeAnswer } from '#services/cli-worker/clis/opencode/opencode-answer.ts';
import { cliRecording } from '../../../../helpers/clis/cli-recording.ts';

function replay(name: string, sessionId?: string): { parts: AnswerPart[]; answer: OpencodeAnswer } {
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
  it('have thinking, text and usage, but not the question', async () => {
    const { parts, answer } = replay('thinking');
    expect(parts[0]).toEqual({ kind: 'thinking', text: 'Hm, let me think.' });
    expect(parts.slice(1).map((part) => part.kind === 'text' && part.text)).toEqual([
      'You ',
      'said: ',
      'hello ',
      '[fake ',
      'think]',
    ]);
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
  ])('fail with the matching error, without retries: %s', async (name, code) => {
    await expect(replay(name).answer.ended).rejects.toMatchObject({ code });
  });

  it('are ignored by another session', () => {
    expect(replay('thinking', 'another').parts).toEqual([]);
  });
});
