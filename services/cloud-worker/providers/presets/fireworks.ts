import { z } from 'zod';
import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import { guessedEmbeddings } from '../other-formats.ts';
import { bearer, type Provider } from '../provider.ts';
import { allCapabilities, capabilitiesIf, createCardReader, tokens } from '../read-cards.ts';
import { platformHints } from '../request-rules.ts';

const flag = z.boolean().optional().catch(undefined);
const card = z.looseObject({
  id: z.string().min(1),
  supports_chat: flag,
  supports_tools: flag,
  supports_image_input: flag,
  context_length: tokens,
});

/** Fireworks (Fireworks docs, "OpenAI compatibility", "Chat completions"). Fireworks refuses unknown hints. */
export const fireworks: Provider = {
  title: 'Fireworks',
  format: chatUpstream,
  keyVariables: ['FIREWORKS_API_KEY'],
  needs: [],
  url: () => 'https://api.fireworks.ai/inference/v1',
  authorize: bearer,
  list: {
    path: '/models',
    read: createCardReader(
      card,
      ({
        id,
        supports_chat: supportsChat,
        supports_tools: tools,
        supports_image_input: vision,
        context_length: contextWindow,
      }) => {
        if (guessedEmbeddings.serves(id) === 'only') return { id, capabilities: [], contextWindow };
        if (supportsChat === false) return undefined;
        return { id, capabilities: capabilitiesIf({ tools, vision, thinking: true, json: true }), contextWindow };
      },
    ),
  },
  guess: () => allCapabilities,
  rules: { maxTokens: 'max_tokens', drop: platformHints, replayedThinking: 'reasoning_content' },
  otherFormats: [guessedEmbeddings],
};
