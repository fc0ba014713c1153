import { expect, it } from 'vitest';
import { openaiApi } from '#shared/formats/apis/openai-api.ts';

it('a model has its context window under the names that clients read, and its most output tokens', () => {
  const card = { id: 'm', created: 7, ownedBy: 'gpu', tiers: ['gpu'], operations: ['generate' as const] };
  expect(openaiApi.showModel({ ...card, contextWindow: 32_768, maxOutput: 4096 })).toMatchObject({
    id: 'm',
    context_window: 32_768,
    context_length: 32_768,
    max_model_len: 32_768,
    max_output_tokens: 4096,
  });
  expect(openaiApi.showModel(card)).not.toHaveProperty('context_length');
});
