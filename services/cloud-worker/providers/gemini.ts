import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import { bearer } from './authorize.ts';
import { engineHints, platformHints } from '../requests/hints.ts';
import { limitedEffort } from '../requests/limit-effort.ts';
import type { Guess, Provider } from './provider.ts';
import { capabilitiesIf, readNames } from './read-cards.ts';

const notForChat = /embedding|aqa|imagen|veo|tts|image|audio|live|robotics|computer-use|lyria|deep-research/;

/** What Google's models can do, by their names, with or without what Google puts before these. */
export const guessGemini: Guess = (id) => {
  if (notForChat.test(id)) return undefined;
  const gemini = /gemini/.test(id);
  return capabilitiesIf({ tools: gemini, vision: true, thinking: gemini && !/-(1\.|2\.0)/.test(id), json: gemini });
};

/** The Gemini API's endpoint for the chat format (Google AI for Developers, "OpenAI compatibility"). Refuses unknown fields. */
export const gemini: Provider = {
  title: 'Google Gemini',
  format: chatUpstream,
  keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  needs: [],
  url: () => 'https://generativelanguage.googleapis.com/v1beta/openai',
  authorize: bearer,
  list: { path: '/models', read: (answer) => readNames(guessGemini)(answer).map(withShortId) },
  guess: guessGemini,
  rules: { drop: [...platformHints, ...engineHints], replayedThinking: 'none' },
  adaptation: limitedEffort,
};

/** The list says `models/gemini-…`; requests take the name without it, which is the one that people use. */
function withShortId(model: ModelInfo): ModelInfo {
  return { ...model, id: model.id.replace(/^models\//, '') };
}
