import { z } from 'zod';
import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import { responsesUpstream } from '#shared/translate/upstreams/responses/responses-upstream.ts';
import { bearer, type Provider } from '../provider.ts';
import { allCapabilities, capabilitiesIf, createCardReader, tokens } from '../read-cards.ts';

const nameList = z.array(z.string()).default([]).catch([]);
const card = z.looseObject({
  id: z.string().min(1),
  context_length: tokens,
  architecture: z.looseObject({ input_modalities: nameList, output_modalities: nameList }).optional().catch(undefined),
  supported_parameters: nameList,
  top_provider: z.looseObject({ max_completion_tokens: tokens }).nullish().catch(undefined),
});

/**
 * OpenRouter (OpenRouter docs, "Models API", "Parameters", "Responses"). OpenRouter accepts all fields that clients send, and drops those
 * that a model does not support.
 */
export const openrouter: Provider = {
  title: 'OpenRouter',
  format: chatUpstream,
  keyVariables: ['OPENROUTER_API_KEY'],
  needs: [],
  url: () => 'https://openrouter.ai/api/v1',
  authorize: bearer,
  list: {
    path: '/models',
    read: createCardReader(
      card,
      ({ id, context_length: contextWindow, architecture, supported_parameters: parameters, top_provider: top }) => {
        if (architecture && !architecture.output_modalities.includes('text')) return undefined;
        const capabilities = capabilitiesIf({
          tools: parameters.includes('tools'),
          vision: architecture?.input_modalities.includes('image'),
          thinking: parameters.includes('reasoning'),
          json: parameters.includes('response_format') || parameters.includes('structured_outputs'),
        });
        return { id, capabilities, contextWindow, maxOutput: top?.max_completion_tokens };
      },
    ),
  },
  guess: () => allCapabilities,
  rules: { replayedThinking: 'reasoning' },
  takesFiles: true,
  otherFormats: [{ format: responsesUpstream, encrypts: true, serves: () => 'also' }],
};
