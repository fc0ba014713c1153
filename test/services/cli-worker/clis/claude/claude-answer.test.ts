import { describe, expect, it } from 'vitest';
import { isJsonObject } from '#shared/core/json.ts';
import type { AnswerPart, Outcome } from '#services/cli-worker/clis/cli.ts';
import { ClaudeAnswer } from '#services/cli-worker/clis/claude/claude-answer.ts';
import { cliRecording } from '../../../../helpers/clis/cli-recording.ts';

/** Hears a recording from where the question was asked. */
function hear(name: string): { parts: AnswerPart[]; outcome: Outcome | undefined } {
  const parts: AnswerPart[] = [];
  const answer = new ClaudeAnswer((part) => parts.push(part));
  let outcome: Outcome | undefined;
  for (const line of cliRecording(`claude/${name}`)) outcome ??= answer.push(line);
  return { parts, outcome };
}

describe("Claude Code's recorded answers", () => {
  it('give thinking, text, and what was counted', () => {
    const { parts, outcome } = hear('thinking');
    expect(parts[0]).toEqual({ kind: 'thinking', text: 'Hm, let me think.' });
    expect(parts.slice(1).map(({ text }) => text)).toEqual(['You ', 'said: ', 'hello ', '[fake ', 'think]']);
    expect(outcome).toMatchObject({ finishReason: 'stop', usage: { promptTokens: 16, completionTokens: 5 } });
  });

  it.each([
    ['429', 'rate_limit_exceeded'],
    ['401', 'upstream_failed'],
    ['drop', 'upstream_failed'],
  ])('tell what went wrong: %s', (name, code) => {
    expect(() => hear(name)).toThrow(expect.objectContaining({ code }));
  });

  it('never show what Claude Code says in the place of an answer that failed', () => {
    const parts: AnswerPart[] = [];
    const answer = new ClaudeAnswer((part) => parts.push(part));
    const lines = cliRecording('claude/429');
    for (const line of lines.slice(0, -1)) answer.push(line);
    expect(lines.some(({ message }) => isJsonObject(message) && message['model'] === '<synthetic>')).toBe(true);
    expect(parts).toEqual([]);
  });

  it("take the time until an account's limit is over from its event", () => {
    const answer = new ClaudeAnswer(() => undefined);
    const resetsAt = Math.floor(Date.now() / 1000) + 120;
    answer.push({ type: 'rate_limit_event', rate_limit_info: { status: 'rejected', resetsAt } });
    const result = { type: 'result', subtype: 'success', is_error: true, api_error_status: 429, result: 'limit' };
    expect(() => answer.push(result)).toThrow(expect.objectContaining({ code: 'rate_limit_exceeded' }));
    try {
      answer.push(result);
    } catch (error) {
      expect((error as { retryAfter: number }).retryAfter).toBeGreaterThan(110);
    }
  });

  it('are context overflows when it refuses the prompt as too long', () => {
    const answer = new ClaudeAnswer(() => undefined);
    const result = { type: 'result', subtype: 'success', is_error: true, api_error_status: 400 };
    const text = 'API Error: 400 prompt is too long: 250000 tokens > 200000 maximum';
    expect(() => answer.push({ ...result, result: text })).toThrow(
      expect.objectContaining({ code: 'context_length_exceeded' }),
    );
    expect(() => answer.push({ ...result, api_error_status: null, result: 'Prompt is too long' })).toThrow(
      expect.objectContaining({ code: 'context_length_exceeded' }),
    );
  });
});
