import { describe, expect, it } from 'vitest';
import {
  assertContinuable,
  readSinglePrompt,
  appendToLastMessage,
  appendToPrompt,
  lowerOutputLimits,
  removeFromLastMessage,
} from '#services/gpu-worker/continuation/continued-request.ts';
import { selectEngine } from '#services/gpu-worker/find-engine.ts';
import type { EngineKind } from '#services/gpu-worker/engines/engine.ts';

const user = { role: 'user', content: 'Hi' };
const model = { id: 'm', capabilities: [] };

describe('a request whose answer is continued', () => {
  it('ends with the beginning of the answer, also after text with which the client began it', () => {
    const begun = { role: 'assistant', content: 'Hel' };
    expect(appendToLastMessage({ messages: [user] }, 'Hel')).toEqual({ messages: [user, begun] });
    expect(appendToLastMessage({ messages: [user, begun] }, 'lo')).toEqual({
      messages: [user, { role: 'assistant', content: 'Hello' }],
    });
    expect(appendToLastMessage({ messages: [user] }, '')).toEqual({ messages: [user] });
    const parts = { role: 'assistant', content: [{ type: 'text', text: 'Hel' }] };
    expect(() => appendToLastMessage({ messages: [user, parts] }, 'lo')).toThrow('in parts');
  });

  it.each<[EngineKind, object]>([
    ['vllm', { continue_final_message: true, add_generation_prompt: false }],
    ['sglang', { continue_final_message: true, add_generation_prompt: false }],
    ['llama-cpp', {}],
  ])('has the fields with which %s continues it, and is the original one without them', (kind, fields) => {
    const engine = selectEngine(kind);
    const request = { messages: [user], max_tokens: 9, stream: true };
    const begun = engine.adapt(appendToLastMessage(request, 'Hel'), model);
    expect(begun).toEqual({ ...request, ...fields, messages: [user, { role: 'assistant', content: 'Hel' }] });
    expect(removeFromLastMessage(begun, 'Hel')).toEqual(engine.adapt(request, model));
  });

  it.each<EngineKind>(['ollama', 'lm-studio', 'openai'])('is not sent to %s', (kind) => {
    expect(selectEngine(kind).continuation).toBeUndefined();
  });

  it('has a prompt that ends with the beginning of the text', () => {
    expect(appendToPrompt({ prompt: 'a' }, ' b')).toEqual({ prompt: 'a b' });
    expect(readSinglePrompt({ prompt: ['a'] })).toBe('a');
    for (const prompt of [['a', 'b'], [1, 2], [[1]]])
      expect(() => readSinglePrompt({ prompt })).toThrow('not one text');
  });

  it('has lower limits, or is not sent', () => {
    const limits = { max_tokens: 10, max_completion_tokens: 20, min_tokens: 3 };
    expect(lowerOutputLimits({ ...limits, n_predict: -1 }, 4)).toEqual({
      max_tokens: 6,
      max_completion_tokens: 16,
      min_tokens: 0,
      n_predict: -1,
    });
    expect(lowerOutputLimits(limits, 10)).toBeUndefined();
    expect(lowerOutputLimits({}, 10)).toEqual({});
  });

  it.each([
    { n: 2 },
    { best_of: 2 },
    { logprobs: true },
    { logprobs: 0 },
    { top_logprobs: 3 },
    { response_format: { type: 'json_object' } },
    { response_format: { type: 'json_schema', json_schema: {} } },
    { grammar: 'root ::= "a"' },
    { json_schema: { type: 'object' } },
    { structured_outputs: { regex: 'a' } },
    { guided_json: { type: 'object' } },
    { tool_choice: 'required' },
    { tool_choice: { type: 'function', function: { name: 'a' } } },
    { echo: true },
    { suffix: 'end' },
    { continue_final_message: false },
    { add_generation_prompt: true },
  ])('is refused with %o', (fields) => {
    expect(() => assertContinuable({ messages: [user], ...fields })).toThrow(
      expect.objectContaining({ failure: 'refused' }),
    );
  });

  it('may ask for one choice, text, and tools that the model need not call', () => {
    const fields = { n: 1, logprobs: false, top_logprobs: 0, response_format: { type: 'text' }, tool_choice: 'auto' };
    expect(() => assertContinuable({ messages: [user], ...fields, tools: [{}], suffix: null })).not.toThrow();
  });
});
