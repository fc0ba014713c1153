import { expect, it } from 'vitest';
import { originOf } from '#services/cloud-worker/providers/origin-of.ts';
import { presets } from '#services/cloud-worker/providers/provider-of.ts';

const { openai, openrouter } = presets;
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
