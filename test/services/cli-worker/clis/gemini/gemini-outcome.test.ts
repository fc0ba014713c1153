import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { geminiFailure, readGeminiOutcome } from '#services/cli-worker/clis/gemini/gemini-outcome.ts';
import { JsonRpcError } from '#services/cli-worker/process/json-rpc-peer.ts';
import { cliRecording } from '../../../../helpers/clis/cli-recording.ts';

function lastMessage(name: string): JsonObject {
  return cliRecording(`gemini/${name}`).at(-1) ?? {};
}

describe("Gemini CLI's recorded ends", () => {
  it('have usage', () => {
    const { result } = lastMessage('thinking');
    expect(readGeminiOutcome(isJsonObject(result) ? result : {})).toMatchObject({
      finishReason: 'stop',
      usage: { promptTokens: 11, completionTokens: 5 },
    });
  });

  it.each([
    ['429', 'rate_limit_exceeded'],
    ['400', 'invalid_request'],
    ['drop', 'upstream_failed'],
  ])('fail with the matching error: %s', (name, code) => {
    const { error } = lastMessage(name);
    expect(geminiFailure('session/prompt', new JsonRpcError(isJsonObject(error) ? error : {}))).toMatchObject({ code });
  });

  it('are failures when the answer was cut off, whatever Gemini CLI reports', () => {
    const nothing = { quota: { token_count: { input_tokens: 0, output_tokens: 0 }, model_usage: [] } };
    expect(() => readGeminiOutcome({ stopReason: 'end_turn', _meta: nothing })).toThrow(
      expect.objectContaining({ code: 'upstream_failed' }),
    );
  });
});
