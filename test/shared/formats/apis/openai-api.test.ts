import { expect, it } from 'vitest';
import { openaiApi } from '#shared/formats/apis/openai-api.ts';
import type { ModelCard } from '#shared/formats/client-api.ts';

const card: ModelCard = {
  id: 'm',
  created: 7,
  ownedBy: 'gpu',
  tiers: ['gpu'],
  operations: ['generate'],
  capabilities: ['stream'],
};

it('a listed model has its context window under the names that clients read, and its maximum output tokens', () => {
  expect(openaiApi.showModel({ ...card, contextWindow: 32_768, maxOutput: 4096 })).toMatchObject({
    id: 'm',
    context_window: 32_768,
    context_length: 32_768,
    max_model_len: 32_768,
    max_output_tokens: 4096,
  });
  expect(openaiApi.showModel(card)).not.toHaveProperty('context_length');
});

it('a listed model that generates answers has its inputs and parameters in the fields of OpenRouter', () => {
  expect(openaiApi.showModel(card)).toMatchObject({
    architecture: { input_modalities: ['text'], output_modalities: ['text'] },
    supported_parameters: [],
  });
  const capabilities = ['stream', 'tools', 'json', 'vision', 'thinking'];
  const parameters = 'tools tool_choice response_format structured_outputs reasoning include_reasoning';
  expect(openaiApi.showModel({ ...card, capabilities })).toMatchObject({
    architecture: { input_modalities: ['text', 'image'] },
    supported_parameters: parameters.split(' '),
  });
  expect(openaiApi.showModel({ ...card, operations: ['embed'] })).not.toHaveProperty('architecture');
});
