import { expect, it } from 'vitest';
import { custom } from '#services/cloud-worker/providers/custom.ts';
import { originOf } from '#services/cloud-worker/providers/origin-of.ts';
import { presets } from '#services/cloud-worker/providers/provider-of.ts';

const { anthropic, openai, openrouter } = presets;
const key = 'sk-upstream-key';

it('the origin of encrypted thinking is one for each address and account, and does not contain the key', () => {
  const here = originOf(openai, { PROVIDER_URL: undefined, PROVIDER_KEY: key }, {});
  expect(here).toMatch(/^[\w-]{12}$/);
  // The key may also stand in the provider's usual variable, and the address be given.
  expect(originOf(openai, { PROVIDER_URL: undefined, PROVIDER_KEY: undefined }, { OPENAI_API_KEY: key })).toBe(here);
  expect(originOf(openai, { PROVIDER_URL: openai.url({}), PROVIDER_KEY: key }, {})).toBe(here);
  const others = [
    originOf(openai, { PROVIDER_URL: undefined, PROVIDER_KEY: 'another' }, {}),
    originOf(openrouter, { PROVIDER_URL: undefined, PROVIDER_KEY: key }, {}),
    originOf(openai, { PROVIDER_URL: 'https://proxy.example/v1', PROVIDER_KEY: key }, {}),
  ];
  expect(new Set([here, ...others]).size).toBe(4);
});

it('the thinking of Anthropic is bound to no account of it, but that of a gateway in its place is bound to the gateway', () => {
  expect(originOf(anthropic, { PROVIDER_URL: undefined, PROVIDER_KEY: key }, {})).toBeUndefined();
  expect(originOf(anthropic, { PROVIDER_URL: anthropic.url({}), PROVIDER_KEY: key }, {})).toBeUndefined();
  const other = 'https://messages.example/v1';
  expect(
    originOf(custom('messages'), { PROVIDER_URL: other, PROVIDER_KEY: key }, { PROVIDER_URL: other }),
  ).toBeDefined();
  expect(originOf(anthropic, { PROVIDER_URL: 'https://gateway.example/v1', PROVIDER_KEY: key }, {})).toBeDefined();
});
