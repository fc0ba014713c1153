import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import { bearer } from './authorize.ts';
import { engineHints, platformHints } from '../requests/hints.ts';
import { schemaInWords } from '../requests/schema-in-words.ts';
import type { Guess, Provider } from './provider.ts';
import { capabilitiesIf, readNames } from './read-cards.ts';

const guess: Guess = () => capabilitiesIf({ tools: true, thinking: true, json: true });

/**
 * DeepSeek (DeepSeek API Docs, "Create Chat Completion", "JSON Output", "Thinking Mode"). Formats are JSON without a
 * schema; thinking is a switch; the thinking of earlier turns with tool calls must come back.
 */
export const deepseek: Provider = {
  title: 'DeepSeek',
  format: chatUpstream,
  keyVariables: ['DEEPSEEK_API_KEY'],
  needs: [],
  url: () => 'https://api.deepseek.com',
  authorize: bearer,
  list: { path: '/models', read: readNames(guess) },
  guess,
  rules: {
    maxTokens: 'max_tokens',
    drop: [...platformHints, ...engineHints],
    developerAsSystem: true,
    replayedThinking: 'reasoning_content',
  },
  adaptation: {
    words: 'a JSON schema is told in words; `reasoning_effort` switches thinking on or off',
    apply(request) {
      const { reasoning_effort: effort, ...rest } = schemaInWords(request);
      if (effort === undefined || effort === null) return rest;
      return { thinking: { type: effort === 'none' ? 'disabled' : 'enabled' }, ...rest };
    },
  },
};
