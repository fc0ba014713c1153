import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { noUsage } from '#shared/core/usage.ts';
import { mapGeminiError, readGeminiOutcome } from '#services/cli-worker/clis/gemini/gemini-outcome.ts';
import { JsonRpcError } from '#services/cli-worker/process/json-rpc-peer.ts';
import { cliRecording } from '../../../../helpers/clis/cli-recording.ts';

function lastMessage(name: string): JsonObject {
  return cliRecording(`gemini/${name}`).at(-1) ?? {};
}

const noted = { usage: noUsage, calls: [] };

describe("Gemini CLI's recorded ends of answers", () => {
  it('have the recorded usage', () => {
    const { result } = lastMessage('thinking');
    expect(readGeminiOutcome(isJsonObject(result) ? result : {}, noted)).toEqual({
      finishReason: 'stop',
      usage: noUsage,
    });
  });

  it.each([
    ['429', 'rate_limit_exceeded'],
    ['400', 'invalid_request'],
    ['drop', 'upstream_failed'],
  ])('fail with the matching error: %s', (name, code) => {
    const { error } = lastMessage(name);
    expect(mapGeminiError('session/prompt', new JsonRpcError(isJsonObject(error) ? error : {}))).toMatchObject({
      code,
    });
  });

  it("report the wait from their sentence, also for an account's limit", () => {
    const failing = (message: string) => mapGeminiError('session/prompt', new JsonRpcError({ code: 429, message }));
    expect(failing('Resource has been exhausted.\nSuggested retry after 7200s.')).toMatchObject({ retryAfter: 7200 });
    const message = 'You have exhausted your capacity on this model. Your quota will reset after 2h0m0s.';
    expect(failing(message)).toMatchObject({ code: 'rate_limit_exceeded', message, retryAfter: 7200 });
  });

  it('are failures when the answer was cut off, whatever Gemini CLI reports', () => {
    const cut = (stopReason: string) => () => readGeminiOutcome({ stopReason }, { usage: undefined, calls: [] });
    expect(cut('end_turn')).toThrow(expect.objectContaining({ code: 'upstream_failed' }));
    expect(cut('max_tokens')).toThrow(expect.objectContaining({ code: 'context_length_exceeded' }));
    expect(() => readGeminiOutcome({ stopReason: 'cancelled' }, noted)).toThrow('stopped');
  });
});
