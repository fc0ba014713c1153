import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { withOperations } from '#services/cloud-worker/providers/other-formats.ts';
import { findProvider } from '#services/cloud-worker/providers/presets.ts';
import type { ProviderName } from '#services/cloud-worker/providers/provider.ts';

function read(name: ProviderName, answer: unknown, format = 'chat'): ModelInfo[] {
  const provider = findProvider(name, format);
  return (provider.list?.read(answer) ?? []).map((model) => withOperations(provider, model));
}

const all = ['stream', 'tools', 'vision', 'thinking', 'json'];

describe('a list of models', () => {
  it('of Anthropic has capabilities and context windows, without retired models', () => {
    const list: unknown = JSON.parse(readFileSync('test/fixtures/providers/anthropic/models.json', 'utf8'));
    const models = read('anthropic', list);
    const hosted = ['web_search@messages', 'web_fetch@messages', 'web_search@responses'];
    const capabilities = [...all, ...hosted];
    const limits = { contextWindow: 1_000_000, maxOutput: 128_000 };
    const thinkingTypes = ['adaptive', 'enabled'];
    expect(models[0]).toEqual({ id: 'claude-think', capabilities, ...limits, thinkingTypes });
    const thoughtless = { capabilities: ['stream', 'tools', 'json', ...hosted], thinkingTypes: [] };
    expect(models.find(({ id }) => id === 'claude-long')).toMatchObject(thoughtless);
    expect(models.map(({ id }) => id)).not.toContain('claude-gone');
    const old = { type: 'model', id: 'old', display_name: 'Old' };
    expect(read('anthropic', { data: [old] })).toMatchObject([{ id: 'old', capabilities }]);
    expect(read('custom', list, 'messages')[0]?.capabilities).toEqual(all);
  });

  it.each([
    ['gpt-5.1', all],
    ['gpt-4.1-mini', ['stream', 'tools', 'vision', 'json']],
    ['gpt-4-0613', ['stream', 'tools', 'json']],
    ['gpt-5-chat-latest', ['stream', 'tools', 'vision', 'json']],
    ['o4-mini', all],
    ['o3-mini', ['stream', 'tools', 'thinking', 'json']],
    ['ft:gpt-4o-mini:org::id', ['stream', 'tools', 'vision', 'json']],
    ['gpt-5-pro', all],
    ['gpt-5.1-codex-max', all],
    ['codex-mini-latest', all],
    ['o4-mini-deep-research', undefined],
    ['gpt-4o-realtime-preview', undefined],
    ['sora-2', undefined],
  ])('of OpenAI has names only, from which the capabilities of %s are guessed', (id, capabilities) => {
    const hosted = /gpt-4-0613|o3-mini|search-preview/.test(id) ? [] : ['web_search@responses', 'mcp@responses'];
    const expected = capabilities ? [{ id, capabilities: [...capabilities, ...hosted] }] : [];
    expect(read('openai', { data: [{ id, created: 1 }] })).toEqual(expected);
  });

  const bge = { id: 'BAAI/bge-large-en-v1.5', type: 'embedding', context_length: 512 };

  it.each<[ProviderName, JsonObject & { id: string }, ModelInfo['operations'], object?]>([
    ['openai', { id: 'text-embedding-3-large' }, ['embed']],
    ['openai', { id: 'gpt-image-1' }, ['draw', 'redraw']],
    ['openai', { id: 'whisper-1' }, ['transcribe', 'translate']],
    ['openai', { id: 'gpt-4o-mini-tts' }, ['speak']],
    ['openai', { id: 'davinci-002' }, ['complete']],
    ['openai', { id: 'gpt-3.5-turbo-instruct' }, ['complete']],
    ['gemini', { id: 'models/gemini-embedding-001' }, ['embed'], { id: 'gemini-embedding-001' }],
    ['together', bge, ['embed'], { contextWindow: 512 }],
    ['together', { id: 'Salesforce/Llama-Rank-V1', type: 'rerank' }, ['rank']],
    ['fireworks', { id: 'nomic-ai/nomic-embed-text-v1.5', supports_chat: false }, ['embed']],
    ['custom', { id: 'jina-reranker-v3' }, ['rank']],
    ['custom', { id: 'intfloat/e5-large' }, ['embed']],
  ])('of %s has models that do not generate, here %o', (name, card, operations, more) => {
    expect(read(name, { data: [card] })).toEqual([{ id: card.id, operations, capabilities: [], ...more }]);
  });

  it('has the newest models first', () => {
    const data = Object.entries({ 'gpt-4o': 1, 'gpt-5': 3, 'gpt-4.1': 2 }).map(([id, created]) => ({ id, created }));
    expect(read('openai', { data }).map(({ id }) => id)).toEqual(['gpt-5', 'gpt-4.1', 'gpt-4o']);
  });

  it('of OpenAI puts models last that are served only at /responses, so that `auto` avoids them', () => {
    const ids = ['gpt-5.2-pro', 'gpt-5.1-codex', 'gpt-5.1', 'o3-pro', 'gpt-4o'];
    const data = ids.map((id, at) => ({ id, created: 10 - at }));
    const first = ['gpt-5.1', 'gpt-4o'];
    const last = ['gpt-5.2-pro', 'gpt-5.1-codex', 'o3-pro'];
    expect(read('openai', { data }).map(({ id }) => id)).toEqual([...first, ...last]);
  });

  it('has the names of Gemini without their prefix', () => {
    const data = ['models/gemini-2.5-pro', 'models/gemini-2.0-flash', 'models/gemini-2.5-flash-image'];
    expect(read('gemini', { data: data.map((id) => ({ id })) })).toEqual([
      { id: 'gemini-2.5-pro', capabilities: all },
      { id: 'gemini-2.0-flash', capabilities: ['stream', 'tools', 'vision', 'json'] },
    ]);
  });

  const generates = (id: string, further: ModelInfo['capabilities'], more: object = {}): ModelInfo => {
    return { id, capabilities: ['stream', ...further, 'json'], ...more };
  };
  const thinks: ModelInfo['capabilities'] = ['tools', 'thinking'];
  const chat = { completion_chat: true, function_calling: true, vision: true };
  const chats = { supports_chat: true, supports_tools: true, supports_image_input: false };
  const ofText = { input_modalities: ['text'], output_modalities: ['text'] };
  const paints = { input_modalities: ['text'], output_modalities: ['image'] };
  const onBedrock = ['openai.gpt-oss-120b', 'anthropic.claude-haiku-4-5'].map((id) => ({ id }));

  it.each<[ProviderName, object[], ModelInfo[], list?: string]>([
    [
      'mistral',
      [
        { id: 'mistral-small-latest', capabilities: chat, max_context_length: 131_072 },
        { id: 'mistral-embed', capabilities: { completion_chat: false }, max_context_length: 8192 },
      ],
      [
        generates('mistral-small-latest', ['tools', 'vision'], { contextWindow: 131_072 }),
        { id: 'mistral-embed', operations: ['embed'], capabilities: [], contextWindow: 8192 },
      ],
    ],
    [
      'groq',
      [
        { id: 'openai/gpt-oss-120b', active: true, context_window: 131_072, max_completion_tokens: 65_536 },
        { id: 'whisper-large-v3', active: true, context_window: 448 },
        { id: 'llama-old', active: false, context_window: 8192 },
      ],
      [
        generates('openai/gpt-oss-120b', thinks, { contextWindow: 131_072, maxOutput: 65_536 }),
        { id: 'whisper-large-v3', operations: ['transcribe', 'translate'], capabilities: [], contextWindow: 448 },
      ],
    ],
    [
      'xai',
      [
        { id: 'grok-4', input_modalities: ['text', 'image'], output_modalities: ['text'] },
        { id: 'grok-2-image', ...paints },
      ],
      [generates('grok-4', ['tools', 'vision', 'thinking'])],
      'models',
    ],
    [
      'openrouter',
      [
        {
          id: 'z-ai/glm-5',
          context_length: 202_752,
          architecture: ofText,
          supported_parameters: ['tools', 'reasoning', 'response_format'],
          top_provider: { max_completion_tokens: 65_536 },
        },
        { id: 'x/paints', architecture: paints },
      ],
      [generates('z-ai/glm-5', thinks, { contextWindow: 202_752, maxOutput: 65_536 })],
    ],
    [
      'together',
      [
        { id: 'meta-llama/Llama-3.3-70B-Instruct-Turbo', type: 'chat', context_length: 131_072 },
        { id: 'black-forest-labs/FLUX.1', type: 'image' },
      ],
      [generates('meta-llama/Llama-3.3-70B-Instruct-Turbo', ['tools'], { contextWindow: 131_072 })],
      '',
    ],
    [
      'fireworks',
      [
        { id: 'accounts/fireworks/models/kimi', ...chats, context_length: 262_144 },
        { id: 'accounts/fireworks/models/flux', supports_chat: false },
      ],
      [generates('accounts/fireworks/models/kimi', thinks, { contextWindow: 262_144 })],
    ],
    ['bedrock', onBedrock, [generates('openai.gpt-oss-120b', thinks)]],
    ['bedrock-claude', onBedrock, [generates('anthropic.claude-haiku-4-5', ['tools', 'vision', 'thinking'])]],
  ])('of %s is read', (name, cards, models, list = 'data') => {
    expect(read(name, list === '' ? cards : { [list]: cards })).toEqual(models);
  });

  it('may have unreadable entries, which are skipped', () => {
    const data = [null, 7, { id: '' }, { name: 'x' }, { id: 'good', context_length: 'much' }];
    expect(read('openrouter', { data })).toMatchObject([{ id: 'good' }]);
  });

  it('is refused if it contains no list', () => {
    for (const answer of [undefined, {}, { data: 'x' }, { error: {} }]) expect(() => read('openai', answer)).toThrow();
  });
});
