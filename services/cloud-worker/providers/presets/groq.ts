import { z } from 'zod';
import { audioTranslationsUpstream, transcriptionsUpstream } from '#shared/translate/same-format/same-formats.ts';
import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import { onlyIf } from '../other-formats.ts';
import { bearer, type Guess, type Provider } from '../provider.ts';
import { capabilitiesIf, createCardReader, tokens } from '../read-cards.ts';
import { engineHints, platformHints, limitedEffort } from '../request-rules.ts';

const card = z.looseObject({
  id: z.string().min(1),
  active: z.boolean().default(true),
  context_window: tokens,
  max_completion_tokens: tokens,
});

const transcribingModels = /whisper/;

const guess: Guess = (id) => {
  if (transcribingModels.test(id)) return [];
  if (/tts|guard|orpheus/.test(id)) return undefined;
  return capabilitiesIf({
    tools: true,
    vision: /llama-4|vision/.test(id),
    thinking: /gpt-oss|qwen3|deepseek-r1/.test(id),
    json: true,
  });
};

/** Groq (GroqDocs, "OpenAI Compatibility", "Models"). Groq refuses unknown hints. */
export const groq: Provider = {
  title: 'Groq',
  format: chatUpstream,
  keyVariables: ['GROQ_API_KEY'],
  needs: [],
  url: () => 'https://api.groq.com/openai/v1',
  authorize: bearer,
  list: {
    path: '/models',
    read: createCardReader(card, ({ id, active, context_window: contextWindow, max_completion_tokens: maxOutput }) => {
      const capabilities = active ? guess(id) : undefined;
      return capabilities && { id, capabilities: [...capabilities], contextWindow, maxOutput };
    }),
  },
  guess,
  rules: { drop: [...platformHints, ...engineHints], replayedThinking: 'none' },
  adaptation: limitedEffort,
  otherFormats: [
    { format: transcriptionsUpstream, serves: (id) => onlyIf(transcribingModels.test(id)) },
    { format: audioTranslationsUpstream, serves: (id) => onlyIf(transcribingModels.test(id) && !id.includes('turbo')) },
  ],
};
