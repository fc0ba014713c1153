import { describe, expect, it } from 'vitest';
import type { Capability } from '#shared/broker/contract/announcement.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { translations } from '#shared/translate/translations.ts';
import { presets, findProvider } from '#services/cloud-worker/providers/presets.ts';
import type { Provider } from '#services/cloud-worker/providers/provider.ts';
import { listClientFormats, ProviderRoutes } from '#services/cloud-worker/providers/provider-routes.ts';
import { listServedFormats } from '#services/cloud-worker/providers/served-format.ts';

const names = (provider: Provider, id: string) => listServedFormats(provider, id).map(({ format }) => format.name);
const all: Capability[] = ['stream', 'tools', 'vision', 'thinking', 'json'];

describe('the formats in which a provider serves a model', () => {
  it.each([
    ['gpt-5.1', ['chat', 'responses']],
    ['gpt-4o-search-preview', ['chat']],
    ['gpt-5.1-codex', ['responses']],
    ['codex-mini-latest', ['responses']],
    ['gpt-5-pro-2025-10-06', ['responses']],
    ['o3-pro', ['responses']],
    ['gpt-5-chat-latest', ['chat', 'responses']],
  ])('are for %s at OpenAI and Azure: %j', (id, formats) => {
    expect(names(presets.openai, id)).toEqual(formats);
    expect(names(presets.azure, id)).toEqual(formats);
  });

  it('show which of them are known to encrypt thinking on request', () => {
    const encrypts = (provider: Provider) =>
      listServedFormats(provider, 'gpt-5.1').find(({ format }) => format.name === 'responses')?.encrypts;
    for (const name of ['openai', 'azure', 'openrouter'] as const) expect(encrypts(presets[name])).toBe(true);
    expect(encrypts(findProvider('custom', 'responses'))).not.toBe(true);
  });

  it('are a single one for other providers, except OpenRouter', () => {
    expect(names(presets.openrouter, 'openai/gpt-5-pro')).toEqual(['chat', 'responses']);
    expect(names(presets.anthropic, 'claude-x')).toEqual(['messages']);
    for (const format of ['chat', 'messages', 'responses'])
      expect(names(findProvider('custom', format), 'm')).toEqual([format]);
  });

  it("include the client's own wherever the provider has it", () => {
    const routes = new ProviderRoutes(presets.openrouter, translations);
    for (const client of listClientFormats(presets.openrouter, translations)) {
      const { format, translation } = routes.choose('m', client, () => false);
      expect(translation.client.name).toBe(client);
      expect(translation.upstream).toBe(format);
      if (names(presets.openrouter, 'm').includes(client)) expect(format.name).toBe(client);
    }
    const [proRoute] = new ProviderRoutes(presets.openai, translations).list('gpt-5-pro', 'chat');
    expect(proRoute?.format.name).toBe('responses');
  });

  it('are announced as the client formats of all of them', () => {
    for (const provider of [presets.openai, findProvider('custom', 'responses')])
      expect(listClientFormats(provider, translations)).toEqual(expect.arrayContaining(['chat', 'messages']));
  });
});

describe('a request to OpenAI at /responses', () => {
  const sent = (request: JsonObject, id = 'gpt-5.1', capabilities = all, provider = presets.openai): JsonObject => {
    const served = listServedFormats(provider, id).find(({ format }) => format.path === '/responses');
    return served?.adapt(request, { id, capabilities }) ?? {};
  };

  it('is not changed by the rules for chat requests', () => {
    const request = { input: 'hi', max_output_tokens: 50, max_tokens: 6, top_k: 1, reasoning_effort: 'low' };
    expect(sent(request)).toEqual(request);
  });

  it('has thinking that OpenAI has encrypted, and no other', () => {
    const theirs = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' };
    const others = { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'hm' }] };
    const user = { type: 'message', role: 'user', content: 'hi' };
    expect(sent({ input: [user, theirs, others] })).toEqual({ input: [user, theirs] });
  });

  it('asks for encrypted thinking only if the model thinks, as far as its name shows', () => {
    const asking = { input: 'hi', include: ['message.output_text.logprobs', 'reasoning.encrypted_content'] };
    const without = { input: 'hi', include: ['message.output_text.logprobs'] };
    expect(sent(asking)).toEqual(asking);
    expect(sent(asking, 'gpt-4o', ['stream', 'tools'])).toEqual(without);
    expect(sent(asking, 'our-deployment', all, presets.azure)).toEqual(without);
    const thinking = { ...asking, reasoning: { effort: 'low' } };
    expect(sent(thinking, 'our-deployment', all, presets.azure)).toEqual(thinking);
  });
});
