import { describe, expect, it } from 'vitest';
import type { Capability } from '#shared/broker/contract/announcement.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { presets, findProvider } from '#services/cloud-worker/providers/presets.ts';
import type { ProviderName } from '#services/cloud-worker/providers/provider.ts';
import { applyRules } from '#services/cloud-worker/providers/request-rules.ts';

const all: Capability[] = ['stream', 'tools', 'vision', 'thinking', 'json'];

/** Returns the request in the form that the provider gets. */
function sent(name: ProviderName, request: JsonObject, id = 'model', capabilities = all): JsonObject {
  const provider = findProvider(name, 'chat');
  const before = structuredClone(request);
  const ruled = applyRules(request, provider.rules);
  const adapted = provider.adaptation?.apply(ruled, { id, capabilities }) ?? ruled;
  expect(request).toEqual(before);
  return adapted;
}

const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });
const hello = [{ role: 'user', content: 'hi' }];

describe('a chat request', () => {
  it('is sent unchanged to an unknown provider', () => {
    const request = { messages: hello, max_tokens: 5, top_k: 3, store: true, anything: [1] };
    expect(sent('custom', request)).toEqual(request);
  });

  it.each([
    ['openai', 'max_completion_tokens'],
    ['azure', 'max_completion_tokens'],
    ['mistral', 'max_tokens'],
    ['deepseek', 'max_tokens'],
    ['together', 'max_tokens'],
    ['fireworks', 'max_tokens'],
  ] as const)('has its token limit in the field that %s reads, and the newer field wins', (name, field) => {
    expect(sent(name, { max_tokens: 5 })).toEqual({ [field]: 5 });
    expect(sent(name, { max_completion_tokens: 6, max_tokens: 5 })).toEqual({ [field]: 6 });
    expect(sent(name, { max_tokens: null })).toEqual({});
  });

  const strict = ['gemini', 'vertex', 'mistral', 'groq', 'deepseek', 'fireworks', 'cerebras', 'together'] as const;

  it.each(strict)('loses hints that %s would refuse, and no field that affects the answer', (name) => {
    const judged = { messages: hello, temperature: 0.2, logprobs: true, n: 2, tools: [], stop: ['x'] };
    expect(sent(name, { ...judged, store: true, metadata: {}, service_tier: 'auto', user: 'u' })).toEqual(judged);
  });

  it('keeps service_tier for providers that have tiers', () => {
    const request = { service_tier: 'flex', user: 'u', store: false };
    for (const name of ['openai', 'azure', 'openrouter', 'xai'] as const) expect(sent(name, request)).toEqual(request);
  });

  it.each(['gemini', 'vertex'] as const)('has a signature on the first call for Gemini 3 of %s', (name) => {
    const signed = { extra_content: { google: { thought_signature: 'theirs' } } };
    const placeholder = { extra_content: { google: { thought_signature: 'skip_thought_signature_validator' } } };
    const history = (first: object) => ({
      messages: [
        ...hello,
        { role: 'assistant', tool_calls: [{ ...call('a'), ...first }, call('b')] },
        { role: 'tool', tool_call_id: 'a', content: '1' },
        { role: 'assistant', tool_calls: [{ ...call('c'), ...signed }] },
      ],
    });
    expect(sent(name, history({}), 'gemini-3-pro-preview')).toEqual(history(placeholder));
    expect(sent(name, history(signed), 'gemini-3-pro-preview')).toEqual(history(signed));
    expect(sent(name, history({}), 'gemini-2.5-pro')).toEqual(history({}));
  });

  it('does not ask models to think that cannot', () => {
    for (const name of ['openai', 'azure', 'gemini', 'groq', 'cerebras'] as const) {
      expect(sent(name, { reasoning_effort: 'high' }, 'm', ['stream'])).toEqual({});
      expect(sent(name, { reasoning_effort: 'high' })).toEqual({ reasoning_effort: 'high' });
    }
    expect(sent('gemini', { reasoning_effort: 'max' })).toEqual({ reasoning_effort: 'high' });
    expect(sent('openai', { reasoning_effort: 'xhigh' })).toEqual({ reasoning_effort: 'xhigh' });
    expect(sent('xai', { reasoning_effort: 'low' }, 'grok-4')).toEqual({});
    expect(sent('xai', { reasoning_effort: 'low' }, 'grok-3-mini')).toEqual({ reasoning_effort: 'low' });
  });

  it('has earlier thinking in the field that the provider reads, or without it', () => {
    const messages = [{ role: 'assistant', content: 'a', reasoning_content: 'hm' }];
    const replayed = (name: ProviderName) => sent(name, { messages }).messages;
    expect(replayed('openai')).toEqual([{ role: 'assistant', content: 'a' }]);
    expect(replayed('openrouter')).toEqual([{ role: 'assistant', content: 'a', reasoning: 'hm' }]);
    expect(replayed('deepseek')).toEqual(messages);
    expect(replayed('custom')).toEqual(messages);
  });

  it('for Mistral has short ids, no empty fields, and its name for the seed', () => {
    const ids = ['toolu_01A', 'abcDEF123'];
    const request = {
      seed: 7,
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: 'developer', content: 'd' },
        { role: 'assistant', content: null, refusal: null, annotations: [], tool_calls: ids.map(call) },
        { role: 'tool', tool_call_id: 'toolu_01A', content: 'r' },
        { role: 'tool', tool_call_id: 'abcDEF123', content: 'r' },
      ],
    };
    const { messages, ...rest } = sent('mistral', request) as { messages: JsonObject[] };
    expect(rest).toEqual({ random_seed: 7, stream: true });
    const [system, assistant, first, second] = messages;
    const [firstCall, secondCall] = (assistant as { tool_calls: { id: string }[] }).tool_calls;
    expect(system).toEqual({ role: 'system', content: 'd' });
    expect(Object.keys(assistant ?? {})).toEqual(['role', 'content', 'tool_calls']);
    expect(firstCall?.id).toMatch(/^[0-9a-f]{9}$/);
    expect(first?.tool_call_id).toBe(firstCall?.id);
    expect(secondCall?.id).toBe('abcDEF123');
    expect(second?.tool_call_id).toBe('abcDEF123');
  });

  it('for DeepSeek has its schema as text and thinking as a switch', () => {
    const schema = { type: 'object', properties: { a: { type: 'number' } } };
    const request = { messages: hello, response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } };
    const given = sent('deepseek', request) as { messages: { role: string; content: string }[] };
    expect(given).toMatchObject({ response_format: { type: 'json_object' } });
    expect(given.messages.at(-1)?.role).toBe('system');
    expect(given.messages.at(-1)?.content).toContain(JSON.stringify(schema));
    expect(sent('deepseek', { reasoning_effort: 'none' })).toEqual({ thinking: { type: 'disabled' } });
    expect(sent('deepseek', { reasoning_effort: 'high' })).toEqual({ thinking: { type: 'enabled' } });
  });

  it('for Cerebras has no penalties', () => {
    const request = { frequency_penalty: 0, presence_penalty: 0, logit_bias: {}, seed: 1 };
    expect(sent('cerebras', request)).toEqual({ seed: 1 });
  });
});

it('a messages request is sent unchanged to every provider of its format', () => {
  for (const provider of Object.values(presets)) {
    if (provider.format.name !== 'messages') continue;
    expect(provider.rules).toEqual({});
    expect(provider.adaptation).toBeUndefined();
  }
});
