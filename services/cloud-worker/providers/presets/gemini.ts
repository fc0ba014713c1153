import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import { guessedEmbeddings } from '../further-formats.ts';
import { bearer, type Guess, type Provider } from '../provider.ts';
import { capabilitiesIf, readNames } from '../read-cards.ts';
import { engineHints, platformHints, limitedEffort } from '../request-rules.ts';

const notForChat = /aqa|imagen|veo|tts|image|audio|live|robotics|computer-use|lyria|deep-research/;

/** Guesses the capabilities of Google's models, whose names may have a prefix. */
const guess: Guess = (id) => {
  if (guessedEmbeddings.serves(id) === 'only') return [];
  if (notForChat.test(id)) return undefined;
  const gemini = /gemini/.test(id);
  return capabilitiesIf({ tools: gemini, vision: true, thinking: gemini && !/-(1\.|2\.0)/.test(id), json: gemini });
};

/** The Gemini API at its endpoint of the chat format (Google AI for Developers, "OpenAI compatibility"). It refuses unknown fields. */
export const gemini: Provider = {
  title: 'Google Gemini',
  traceName: 'gcp.gemini',
  format: chatUpstream,
  keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  needs: [],
  url: () => 'https://generativelanguage.googleapis.com/v1beta/openai',
  authorize: bearer,
  list: { path: '/models', read: (answer) => readNames(guess)(answer).map(withShortId) },
  guess,
  rules: { drop: [...platformHints, ...engineHints], replayedThinking: 'none' },
  adaptation: limitedEffort,
  further: [guessedEmbeddings],
};

/** The list has `models/gemini-…`; requests also accept the usual name, without the prefix. */
function withShortId(model: ModelInfo): ModelInfo {
  return { ...model, id: model.id.replace(/^models\//, '') };
}
