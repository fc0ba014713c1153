import { describe, expect, it } from 'vitest';
import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { assembleMessage } from '#shared/translate/upstreams/messages/assemble-message.ts';
import type { Outcome } from '#services/cli-worker/answer/dialogue.ts';
import { ClaudeAnswer } from '#services/cli-worker/clis/claude/claude-answer.ts';
import { cliRecording } from '../../../../helpers/clis/cli-recording.ts';

const failed = { type: 'result', subtype: 'success', is_error: true };

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
    const refused = failureOf(() => answer.push({ ...failed, api_error_status: 429, result: 'limit' }));
    expect(refused.code).toBe('rate_limit_exceeded');
    expect(refused.retryAfter).toBeGreaterThan(110);
  });

  it.each([429, null])("report an account's limit with the upstream's sentence and its time (status %s)", (status) => {
    const answer = new ClaudeAnswer(() => undefined);
    const hours = new Date(Date.now() + 7_200_000).getUTCHours();
    const text = `You've hit your session limit · resets ${hours % 12 || 12}${hours < 12 ? 'am' : 'pm'} (UTC)`;
    const result = `${text}\n/login to switch`;
    const refused = failureOf(() => answer.push({ ...failed, api_error_status: status, result }));
    expect(refused).toMatchObject({ code: 'rate_limit_exceeded', message: text });
    expect(refused.retryAfter).toBeGreaterThan(3500);
    expect(refused.retryAfter).toBeLessThanOrEqual(7200);
  });

  it.each([
    [400, 'API Error: 400 prompt is too long: 250000 tokens > 200000 maximum'],
    [null, 'Prompt is too long'],
  ])('are context overflows when Claude Code refuses the prompt (status %s): %s', (status, result) => {
    const answer = new ClaudeAnswer(() => undefined);
    const refused = failureOf(() => answer.push({ ...failed, api_error_status: status, result }));
    expect(refused.code).toBe('context_length_exceeded');
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
