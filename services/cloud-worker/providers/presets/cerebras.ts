import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import { bearer, type Guess, type Provider } from '../provider.ts';
import { capabilitiesIf, createNameReader } from '../read-cards.ts';
import { engineHints, platformHints, limitedEffort } from '../request-rules.ts';

const guess: Guess = (id) =>
  capabilitiesIf({ tools: true, thinking: /gpt-oss|glm|qwen-3|thinking/.test(id), json: true });

/** Cerebras (Cerebras Inference docs, "OpenAI Compatibility"). Cerebras supports no penalties, no biases and no role `developer`. */
export const cerebras: Provider = {
  title: 'Cerebras',
  format: chatUpstream,
  keyVariables: ['CEREBRAS_API_KEY'],
  needs: [],
  url: () => 'https://api.cerebras.ai/v1',
  authorize: bearer,
  list: { path: '/models', read: createNameReader(guess) },
  guess,
  rules: {
    drop: [...platformHints, ...engineHints, 'frequency_penalty', 'presence_penalty', 'logit_bias'],
    changeDeveloperToSystem: true,
    replayedThinking: 'none',
  },
  adaptation: limitedEffort,
};
