import { describe, expect, it } from 'vitest';
import { findProviders, deriveOrigin } from '#services/cloud-worker/providers/find-providers.ts';
import { presets } from '#services/cloud-worker/providers/presets.ts';
import { findCustomProvider } from '#services/cloud-worker/providers/custom.ts';
import type { Provider } from '#services/cloud-worker/providers/provider.ts';

describe('the providers found in an environment', () => {
  it('are those with a key in their usual variable', () => {
    const environment = { OPENAI_API_KEY: 'sk-x', ANTHROPIC_API_KEY: ' ', GOOGLE_API_KEY: 'AIza', PATH: '/bin' };
    expect(findProviders(environment)).toEqual([
      { name: 'openai', title: 'OpenAI', keyVariable: 'OPENAI_API_KEY', missing: [] },
      { name: 'gemini', title: 'Google Gemini', keyVariable: 'GOOGLE_API_KEY', missing: [] },
    ]);
  });

  it('name the variables that are still missing', () => {
    const azure = { AZURE_OPENAI_API_KEY: 'y', AZURE_OPENAI_ENDPOINT: 'z' };
    const found = findProviders({ AWS_BEARER_TOKEN_BEDROCK: 'x', ...azure });
    expect(found.map(({ name, missing }) => [name, missing])).toEqual([
      ['azure', ['AZURE_OPENAI_DEPLOYMENT']],
      ['bedrock', ['AWS_REGION']],
      ['bedrock-claude', ['AWS_REGION']],
    ]);
  });

  it("exclude variables with one of the router's own keys, as its clients have", () => {
    expect(findProviders({ OPENAI_API_KEY: 'rtr_abc_def', ANTHROPIC_API_KEY: 'user.abc.def' })).toEqual([]);
  });

  it('each have a variable that turns them on', () => {
    for (const [name, { keyVariables, needs }] of Object.entries(presets)) {
      const environment = Object.fromEntries(
        [...keyVariables.slice(0, 1), ...needs].map((variable) => [variable, 'x']),
      );
      expect(findProviders(environment).find((found) => found.name === name)?.missing).toEqual([]);
    }
  });
});

const { anthropic, openai, openrouter } = presets;
const key = 'sk-upstream-key';
/** The origin of a provider's thinking, by its key and, if it is given, its address. */
const originOf = (provider: Provider, PROVIDER_KEY: string | undefined, PROVIDER_URL?: string, environment = {}) =>
  deriveOrigin(provider, { PROVIDER_URL, PROVIDER_KEY }, environment);

it('the origin of encrypted thinking is one for each address and account, and does not contain the key', () => {
  const here = originOf(openai, key);
  expect(here).toMatch(/^[\w-]{12}$/);
  // The key may also stand in the provider's usual variable, and the address be given.
  expect(originOf(openai, undefined, undefined, { OPENAI_API_KEY: key })).toBe(here);
  expect(originOf(openai, key, openai.url({}))).toBe(here);
  const others = [
    originOf(openai, 'another'),
    originOf(openrouter, key),
    originOf(openai, key, 'https://proxy.example/v1'),
  ];
  expect(new Set([here, ...others]).size).toBe(4);
});

it('the thinking of Anthropic is not bound to an account, but that of a gateway in its place is bound to the gateway', () => {
  expect(originOf(anthropic, key)).toBeUndefined();
  expect(originOf(anthropic, key, anthropic.url({}))).toBeUndefined();
  const other = 'https://messages.example/v1';
  expect(originOf(findCustomProvider('messages'), key, other, { PROVIDER_URL: other })).toBeDefined();
  expect(originOf(anthropic, key, 'https://gateway.example/v1')).toBeDefined();
});
