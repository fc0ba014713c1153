import { z } from 'zod';
import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import { guessedEmbeddings, guessedRanking } from '../other-formats.ts';
import { bearer, type Guess, type Provider } from '../provider.ts';
import { capabilitiesIf, createCardReader, tokens } from '../read-cards.ts';
import { platformHints } from '../request-rules.ts';

const card = z.looseObject({ id: z.string().min(1), type: z.string(), context_length: tokens });

const chatType = 'chat';
/** Returns whether the name of a model shows that it is served only in another format than chat. */
const isServedOtherwise = (id: string): boolean =>
  [guessedEmbeddings, guessedRanking].some(({ serves }) => serves(id) === 'only');

const guess: Guess = (id) =>
  capabilitiesIf({
    tools: true,
    vision: /vision|-vl\b|llama-4|gemma-3|maverick|scout/i.test(id),
    thinking: /thinking|gpt-oss|deepseek|glm|kimi|qwen3/i.test(id),
    json: true,
  });

/** Together (Together docs, "OpenAI Compatibility", "List all models"). The answer with the models is a bare list. */
export const together: Provider = {
  title: 'Together',
  format: chatUpstream,
  keyVariables: ['TOGETHER_API_KEY', 'TOGETHERAI_API_KEY'],
  needs: [],
  url: () => 'https://api.together.xyz/v1',
  authorize: bearer,
  list: {
    path: '/models',
    read: createCardReader(card, ({ id, type, context_length: contextWindow }) => {
      if (isServedOtherwise(id)) return { id, capabilities: [], contextWindow };
      const capabilities = type === chatType ? guess(id) : undefined;
      return capabilities && { id, capabilities: [...capabilities], contextWindow };
    }),
  },
  guess,
  rules: { maxTokens: 'max_tokens', drop: platformHints, replayedThinking: 'none' },
  otherFormats: [guessedEmbeddings, guessedRanking],
};
