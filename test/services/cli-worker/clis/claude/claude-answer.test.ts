import { describe, expect, it } from 'vitest';
import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { assembleMessage } from '#shared/translate/upstreams/messages/assemble-message.ts';
import type { Outcome } from '#services/cli-worker/answer/outcome.ts';
import { ClaudeAnswer } from '#services/cli-worker/clis/claude/claude-answer.ts';
import { cliRecording } from '../../../../helpers/clis/cli-recording.ts';

function replay(name: string): { events: JsonObject[]; outcome: Outcome | undefined } {
  const events: JsonObject[] = [];
  const answer = new ClaudeAnswer((event) => events.push(event));
  let outcome: Outcome | undefined;
  for (const line of cliRecording(`claude/${name}`)) outcome ??= answer.push(line);
  return { events, outcome };
}

describe("Claude Code's recorded answers", () => {
  it('become the events of the upstream, with its usage', () => {
    const { events, outcome } = replay('thinking');
    expect(events.at(-1)).toEqual({ type: 'message_stop' });
    expect(assembleMessage(events)).toMatchObject({
      content: [
        { type: 'thinking', thinking: 'Hm, let me think.', signature: 'c2ln' },
        { type: 'text', text: 'You said: hello [fake think]' },
      ],
      stop_reason: 'end_turn',
      usage: { input_tokens: 11, output_tokens: 5 },
    });
    expect(outcome).toMatchObject({ finishReason: 'stop', usage: { promptTokens: 16, completionTokens: 5 } });
  });

  it.each([
    ['429', 'rate_limit_exceeded'],
    ['401', 'upstream_failed'],
    ['drop', 'upstream_failed'],
  ])('fail with the matching error: %s', (name, code) => {
    expect(() => replay(name)).toThrow(expect.objectContaining({ code }));
  });

  it("never contain Claude Code's own text in place of a failed answer", () => {
    const events: JsonObject[] = [];
    const answer = new ClaudeAnswer((event) => events.push(event));
    const lines = cliRecording('claude/429');
    for (const line of lines.slice(0, -1)) answer.push(line);
    expect(lines.some(({ message }) => isJsonObject(message) && message['model'] === '<synthetic>')).toBe(true);
    expect(events).toEqual([]);
  });

  it("report the end of an account's limit from its event", () => {
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

  it.each([429, null])(
    "report an account's limit with the upstream's sentence, and the time in it (status %s)",
    (status) => {
      const answer = new ClaudeAnswer(() => undefined);
      const hours = new Date(Date.now() + 7_200_000).getUTCHours();
      const text = `You've hit your session limit · resets ${hours % 12 || 12}${hours < 12 ? 'am' : 'pm'} (UTC)`;
      const result = { type: 'result', subtype: 'success', is_error: true, api_error_status: status };
      const refused = failureOf(() => answer.push({ ...result, result: `${text}\n/login to switch` }));
      expect(refused).toMatchObject({ code: 'rate_limit_exceeded', message: text });
      expect(refused.retryAfter).toBeGreaterThan(3500);
      expect(refused.retryAfter).toBeLessThanOrEqual(7200);
    },
  );

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

function failureOf(attempt: () => unknown): RouterError {
  try {
    attempt();
  } catch (error) {
    if (error instanceof RouterError) return error;
  }
  throw new Error('it has not failed as it has to');
}
