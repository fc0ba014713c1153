import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { mapMessages } from '#shared/upstream/chat-messages.ts';
import { guessedEmbeddings } from '../other-formats.ts';
import { bearer, type Guess, type Provider } from '../provider.ts';
import { capabilitiesIf, createNameReader } from '../read-cards.ts';
import { engineHints, platformHints, limitedEffort } from '../request-rules.ts';

const otherModels = /aqa|imagen|veo|tts|image|audio|live|robotics|computer-use|lyria|deep-research/;

/** Guesses the capabilities of Google's models. Their names may have a prefix. */
const guess: Guess = (id) => {
  if (guessedEmbeddings.serves(id) === 'only') return [];
  if (otherModels.test(id)) return undefined;
  const isGemini = /gemini/.test(id);
  return capabilitiesIf({
    tools: isGemini,
    vision: true,
    thinking: isGemini && !/-(1\.|2\.0)/.test(id),
    json: isGemini,
  });
};

/**
 * The Gemini API at its endpoint of the chat format (Google AI for Developers, "OpenAI compatibility"). The endpoint refuses unknown
 * fields.
 */
export const gemini: Provider = {
  title: 'Google Gemini',
  traceName: 'gcp.gemini',
  format: chatUpstream,
  keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  needs: [],
  url: () => 'https://generativelanguage.googleapis.com/v1beta/openai',
  authorize: bearer,
  list: { path: '/models', read: (answer) => createNameReader(guess)(answer).map(removePrefix) },
  guess,
  rules: { drop: [...platformHints, ...engineHints], replayedThinking: 'none' },
  adaptation: {
    description: `${limitedEffort.description}; a placeholder where the first call of an answer has no signature (Gemini 3 and later)`,
    apply: (request, model) => addSignatures(limitedEffort.apply(request, model), model),
  },
  otherFormats: [guessedEmbeddings],
};

/** Removes the prefix `models/` that names have in the list. Requests also accept names without this prefix. */
function removePrefix(model: ModelInfo): ModelInfo {
  return { ...model, id: model.id.replace(/^models\//, '') };
}

/** Matches models that refuse an earlier answer if its first tool call has no signature. Tool calls of other models have none. */
const needsSignatures = /gemini-([3-9]|\d\d)/;

/** Placeholder that Google accepts as the signature of a call without one (Google AI for Developers, "Thought signatures"). */
const placeholder = { google: { thought_signature: 'skip_thought_signature_validator' } };

function addSignatures(request: JsonObject, { id }: ModelInfo): JsonObject {
  if (!needsSignatures.test(id)) return request;
  return mapMessages(request, (message) => {
    const [first, ...others] = Array.isArray(message['tool_calls']) ? message['tool_calls'] : [];
    if (!isJsonObject(first) || hasSignature(first)) return message;
    return { ...message, tool_calls: [{ ...first, extra_content: placeholder }, ...others] };
  });
}

function hasSignature({ extra_content: extra }: JsonObject): boolean {
  const google = isJsonObject(extra) ? extra['google'] : undefined;
  return isJsonObject(google) && typeof google['thought_signature'] === 'string';
}
