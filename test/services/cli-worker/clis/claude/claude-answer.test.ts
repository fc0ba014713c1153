import { describe, expect, it } from 'vitest';
import { isJsonObject } from '#shared/core/json.ts';
import type { AnswerPart, Outcome } from '#services/cli-worker/clis/cli.ts';
import { ClaudeAnswer } from '#services/cli-worker/clis/claude/claude-answer.ts';
import { cliRecording } from '../../../../helpers/clis/cli-recording.ts';

/** Replays a recording. */
function replay(name: string): { parts: AnswerPart[]; outcome: Outcome | undefined } {
  const parts: AnswerPart[] = [];
  const answer = new ClaudeAnswer((part) => parts.push(part));
  let outcome: Outcome | undefined;
  for (const line of cliRecording(`claude/${name}`)) outcome ??= answer.push(line);
  return { parts, outcome };
}

describe("Claude Code's recorded answers", () => {
  it('have thinking with its signature, text and usage', () => {
    const { parts, outcome } = replay('thinking');
    expect(parts[0]).toEqual({ kind: 'thinking', text: 'Hm, let me think.' });
    expect(parts[1]).toEqual({ kind: 'signature', text: 'c2ln' });
    expect(parts.slice(2).map(({ text }) => text)).toEqual(['You ', 'said: ', 'hello ', '[fake ', 'think]']);
    expect(outcome).toMatchObject({ finishReason: 'stop', usage: { promptTokens: 16, completionTokens: 5 } });
  });

  it.each([
    ['429', 'rate_limit_exceeded'],
    ['401', 'upstream_failed'],
    ['drop', 'upstream_failed'],
  ])('fail with the matching error: %s', (name, code) => {
    expect(() => replay(name)).toThrow(expect.objectContaining({ code }));
  });

  it('never hold the text of Claude Code in place of a failed answer', () => {
    const parts: AnswerPart[] = [];
    const answer = new ClaudeAnswer((part) => parts.push(part));
    const lines = cliRecording('claude/429');
    for (const line of lines.slice(0, -1)) answer.push(line);
    expect(lines.some(({ message }) => isJsonObject(message) && message['model'] === '<synthetic>')).toBe(true);
    expect(parts).toEqual([]);
  });

  it("take the time to the end of an account's limit from its event", () => {
    const answer = new ClaudeAnswer(() => undefined);
    const resetsAt = Math.floor(Date.now() / 1000) + 120;
    answer.push({ type: 'rate_limit_event', rate_limit_info: { status: 'rejected', resetsAt } });
    const result = { type: 'result', subtype: 'success', is_error: true, api_error_status: 429, result: 'limit' };
    let error: unknown;
    try {
      answer.push(result);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: 'rate_limit_exceeded' });
    expect((error as { retryAfter: number }).retryAfter).toBeGreaterThan(110);
  });

  it('are context overflows when Claude Code refuses the prompt as too long', () => {
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
