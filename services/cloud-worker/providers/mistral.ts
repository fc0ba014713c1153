import { z } from 'zod';
import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import { bearer } from './authorize.ts';
import { engineHints, platformHints } from '../requests/hints.ts';
import { plainAssistants } from '../requests/plain-assistants.ts';
import { shortToolIds } from '../requests/short-tool-ids.ts';
import type { Provider } from './provider.ts';
import { capabilitiesIf, readCards, tokens } from './read-cards.ts';

const card = z.looseObject({
  id: z.string().min(1),
  capabilities: z.looseObject({
    completion_chat: z.boolean(),
    function_calling: z.boolean().optional().catch(undefined),
    vision: z.boolean().optional().catch(undefined),
    reasoning: z.boolean().optional().catch(undefined),
  }),
  max_context_length: tokens,
});

/**
 * Mistral (API reference, "Chat completion", "List models"). It refuses every field that it does not know, in requests
 * and in messages, and ids of tool calls that are not nine letters and digits. Usage comes with a stream unasked.
 */
export const mistral: Provider = {
  title: 'Mistral',
  format: chatUpstream,
  keyVariables: ['MISTRAL_API_KEY'],
  needs: [],
  url: () => 'https://api.mistral.ai/v1',
  authorize: bearer,
  list: {
    path: '/models',
    read: readCards(card, ({ id, capabilities: can, max_context_length: contextWindow }) => {
      if (!can.completion_chat) return undefined;
      const thinking = can.reasoning ?? id.startsWith('magistral');
      const capabilities = capabilitiesIf({ tools: can.function_calling, vision: can.vision, thinking, json: true });
      return { id, capabilities, contextWindow };
    }),
  },
  guess: (id) =>
    /embed|ocr|moderation|voxtral|transcribe/.test(id) ? undefined : capabilitiesIf({ tools: true, json: true }),
  rules: {
    maxTokens: 'max_tokens',
    rename: { seed: 'random_seed' },
    drop: [...platformHints, ...engineHints, 'stream_options', 'reasoning_effort'],
    developerAsSystem: true,
    replayedThinking: 'none',
  },
  adaptation: {
    words: 'ids of tool calls have nine characters; no empty fields in messages',
    apply: (request) => shortToolIds(plainAssistants(request)),
  },
};
