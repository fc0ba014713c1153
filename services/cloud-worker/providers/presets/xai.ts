import { z } from 'zod';
import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import { bearer, type Provider } from '../provider.ts';
import { capabilitiesIf, createCardReader } from '../read-cards.ts';
import { engineHints, limitEffort } from '../request-rules.ts';

const modalities = z.array(z.string()).default(['text']).catch(['text']);
const card = z.looseObject({ id: z.string().min(1), input_modalities: modalities, output_modalities: modalities });

/** xAI (xAI Docs, "Chat completions", "List language models"). Only xAI's small models accept `reasoning_effort`. */
export const xai: Provider = {
  title: 'xAI',
  traceName: 'x_ai',
  format: chatUpstream,
  keyVariables: ['XAI_API_KEY'],
  needs: [],
  url: () => 'https://api.x.ai/v1',
  authorize: bearer,
  list: {
    path: '/language-models',
    read: createCardReader(card, ({ id, input_modalities: inputs, output_modalities: outputs }) => {
      if (!outputs.includes('text')) return undefined;
      return {
        id,
        capabilities: capabilitiesIf({ tools: true, vision: inputs.includes('image'), thinking: true, json: true }),
      };
    }),
  },
  guess: (id) => (id.includes('image') ? undefined : capabilitiesIf({ tools: true, thinking: true, json: true })),
  rules: { drop: engineHints, replayedThinking: 'none' },
  adaptation: {
    description: '`reasoning_effort` only for the small models',
    apply: (request, { id }) => limitEffort(request, id.includes('mini')),
  },
};
