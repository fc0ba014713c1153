import { describe, expect, it } from 'vitest';
import type { Capability } from '#shared/broker/contract/announcement.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { selectEngine } from '#services/gpu-worker/find-engine.ts';
import type { EngineKind } from '#services/gpu-worker/engines/engine.ts';
import { said, textBlock } from '../../../helpers/formats/said.ts';

const thinker: Capability[] = ['stream', 'tools', 'thinking', 'json'];
const tool = (name: string): JsonObject => ({ type: 'function', function: { name, parameters: { type: 'object' } } });
const named = { type: 'function', function: { name: 'b' } };

function adapt(kind: EngineKind, request: JsonObject, capabilities = thinker, id = 'some-model'): JsonObject {
  return selectEngine(kind).adapt({ model: id, messages: [], ...request }, { id, capabilities });
}

/** Returns the fields of a request that switch thinking on or off. */
function thinkingFields(request: JsonObject): JsonObject {
  const names = /^(reasoning(_effort)?|thinking(_budget_tokens)?|chat_template_kwargs)$/;
  return Object.fromEntries(Object.entries(request).filter(([name]) => names.test(name)));
}

const rewriting = ['llama-cpp', 'lm-studio', 'ollama'] as const;
const adapted = ['vllm', 'sglang', ...rewriting] as const;
const on = { enable_thinking: true, thinking: true };
const off = { enable_thinking: false, thinking: false };

describe('a request about thinking, adapted to each engine', () => {
  const high = { reasoning_effort: 'high' };
  const none = { reasoning_effort: 'none' };
  it.each([
    { kind: 'vllm', thinks: { ...high, chat_template_kwargs: on }, not: { chat_template_kwargs: off } },
    { kind: 'sglang', thinks: { ...high, chat_template_kwargs: on }, not: { chat_template_kwargs: off } },
    { kind: 'llama-cpp', thinks: { ...high, chat_template_kwargs: on }, not: { chat_template_kwargs: off } },
    { kind: 'ollama', thinks: high, not: none },
    { kind: 'lm-studio', thinks: high, not: none },
    { kind: 'openai', thinks: { reasoning_effort: 'xhigh' }, not: none },
  ] as const)('has the fields of $kind: with an effort, and without thinking', ({ kind, thinks, not }) => {
    expect(thinkingFields(adapt(kind, { reasoning_effort: 'xhigh' }))).toEqual(thinks);
    expect(thinkingFields(adapt(kind, none))).toEqual(not);
  });

  it.each(adapted)('gets no further fields for %s when it has none about thinking', (kind) => {
    expect(thinkingFields(adapt(kind, {}))).toEqual({});
  });

  it.each([
    { asked: { thinking: { type: 'enabled', budget_tokens: 1024 } }, effort: 'low' },
    { asked: { thinking: { type: 'enabled', budget_tokens: 8192 } }, effort: 'medium' },
    { asked: { thinking: { type: 'enabled', budget_tokens: 20_000 } }, effort: 'high' },
    { asked: { reasoning: { effort: 'low' } }, effort: 'low' },
    { asked: { reasoning: { max_tokens: 8192 } }, effort: 'medium' },
    { asked: { reasoning_effort: 'minimal' }, effort: 'low' },
    { asked: { reasoning_effort: 0.5 }, effort: 'medium' },
    { asked: { reasoning_effort: 'max' }, effort: 'high' },
  ])('with $asked has the effort $effort', ({ asked, effort }) => {
    for (const kind of ['vllm', 'ollama'] as const) expect(adapt(kind, asked)['reasoning_effort']).toBe(effort);
  });

  it.each([
    { thinking: { type: 'disabled' } },
    { reasoning: { enabled: false } },
    { chat_template_kwargs: { enable_thinking: false } },
  ])('with %s switches thinking off', (asked) => {
    expect(adapt('ollama', asked)['reasoning_effort']).toBe('none');
    expect(adapt('vllm', asked)['chat_template_kwargs']).toMatchObject({ enable_thinking: false });
  });

  it('keeps an unknown value for the engine to judge', () => {
    expect(thinkingFields(adapt('vllm', { thinking: 'hard' }))).toEqual({ thinking: 'hard' });
  });

  it('passes the budget to llama.cpp', () => {
    const adapted = adapt('llama-cpp', { thinking: { type: 'enabled', budget_tokens: 3000 } });
    expect(adapted).toMatchObject({ thinking_budget_tokens: 3000, reasoning_effort: 'medium' });
  });

  it("keeps the client's own template settings", () => {
    const own = { thinking: false, lang: 'fr' };
    const { chat_template_kwargs: sent } = adapt('sglang', { reasoning_effort: 'high', chat_template_kwargs: own });
    expect(sent).toEqual({ enable_thinking: true, ...own });
  });

  it('sets no template settings for a vLLM model without a template', () => {
    const adapted = adapt('vllm', { reasoning_effort: 'high' }, thinker, 'mistralai/Magistral-Small-2509');
    expect(thinkingFields(adapted)).toEqual({ reasoning_effort: 'high' });
  });

  it.each(['ollama', 'lm-studio'] as const)('loses the field for a model of %s that cannot think', (kind) => {
    expect(thinkingFields(adapt(kind, { reasoning_effort: 'high' }, ['stream']))).toEqual({});
  });
});

describe('earlier messages, adapted to each engine,', () => {
  const messages = [
    said('developer', 'Be brief.'),
    said('user', 'Hi'),
    { role: 'assistant', content: 'Yes?', reasoning: 'They greet.' },
  ];

  it.each([
    { kind: 'vllm', thinking: { reasoning: 'They greet.', reasoning_content: 'They greet.' } },
    { kind: 'sglang', thinking: { reasoning_content: 'They greet.' } },
    { kind: 'llama-cpp', thinking: { reasoning_content: 'They greet.' } },
    { kind: 'ollama', thinking: { reasoning: 'They greet.' } },
    { kind: 'lm-studio', thinking: { reasoning_content: 'They greet.' } },
  ] as const)('have thinking in the field that $kind reads, and developer as system', ({ kind, thinking }) => {
    expect(adapt(kind, { messages })['messages']).toEqual([
      said('system', 'Be brief.'),
      said('user', 'Hi'),
      { role: 'assistant', content: 'Yes?', ...thinking },
    ]);
  });

  it.each(['vllm', 'sglang'] as const)('are continued by %s when the last one begins the answer', (kind) => {
    const prefilled = [...messages, said('user', 'More'), said('assistant', 'More is')];
    const going = { continue_final_message: true, add_generation_prompt: false };
    expect(adapt(kind, { messages: prefilled })).toMatchObject(going);
    expect(adapt(kind, { messages: [said('user', 'Hi')] })).not.toHaveProperty('continue_final_message');
  });

  it('have their text parts joined for ollama, but not next to images', () => {
    const parts = [textBlock('a'), textBlock('b')];
    const image = [...parts, { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } }];
    const adapted = adapt('ollama', { messages: [said('user', parts), said('user', image)] });
    expect(adapted['messages']).toEqual([said('user', 'a\nb'), said('user', image)]);
  });
});

describe('a field that an engine rejects', () => {
  it('is removed for vllm: stream options without a stream and a tool choice without tools', () => {
    const adapted = adapt('vllm', { stream_options: { include_usage: true }, tools: [], tool_choice: 'auto' });
    expect(adapted).toEqual({ model: 'some-model', messages: [] });
  });

  it('stays for vllm where it is accepted: stream options with a stream and a tool choice with tools', () => {
    const request = { stream: true, stream_options: { include_usage: true }, tools: [tool('a')], tool_choice: named };
    expect(adapt('vllm', request)).toMatchObject(request);
  });

  it.each(rewriting)('is replaced for %s: a named tool becomes the only one, and required', (kind) => {
    const request = { tools: [tool('a'), tool('b')], tool_choice: named };
    expect(adapt(kind, request)).toMatchObject({ tools: [tool('b')], tool_choice: 'required' });
  });

  it.each(rewriting)('is renamed for %s: max_completion_tokens becomes max_tokens', (kind) => {
    const { max_tokens, max_completion_tokens } = adapt(kind, { max_completion_tokens: 7, max_tokens: 9 });
    expect([max_tokens, max_completion_tokens]).toEqual([7, undefined]);
  });

  it('is removed for ollama: tools with tool_choice none', () => {
    expect(adapt('ollama', { tools: [tool('a')], tool_choice: 'none' })).not.toHaveProperty('tools');
  });

  it('is replaced for lm-studio: json_object becomes a schema of any object', () => {
    expect(adapt('lm-studio', { response_format: { type: 'json_object' } })).toMatchObject({
      response_format: { type: 'json_schema', json_schema: { schema: { type: 'object' } } },
    });
  });

  it.each([...adapted, 'openai'] as const)('is no unknown one, which passes to %s; the request stays', (kind) => {
    const request = Object.freeze({ top_k: 5, mystery: { deep: true }, tools: [tool('b')], tool_choice: named });
    const copy = structuredClone(request);
    expect(adapt(kind, request)).toMatchObject({ top_k: 5, mystery: { deep: true } });
    expect(request).toEqual(copy);
  });
});
