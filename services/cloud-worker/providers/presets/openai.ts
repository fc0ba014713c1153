import { formatHostedCapability, type Capability, type ModelInfo } from '#shared/broker/contract/announcement.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import {
  audioTranslationsUpstream,
  transcriptionsUpstream,
  imageEditsUpstream,
  imagesUpstream,
  moderationsUpstream,
  speechUpstream,
  embeddingsUpstream,
} from '#shared/translate/same-format/same-formats.ts';
import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import { encryptedThinking, responsesUpstream } from '#shared/translate/upstreams/responses/responses-upstream.ts';
import { completionsUpstream } from '#shared/translate/same-format/completions-to-completions.ts';
import { onlyIf } from '../other-formats.ts';
import { bearer, type Guess, type Provider } from '../provider.ts';
import { capabilitiesIf, createNameReader } from '../read-cards.ts';
import { engineHints } from '../request-rules.ts';

/** Matches models of endpoints that the router does not use, and models that need a hosted tool. */
const unusedModels = /audio|realtime|sora|deep-research|computer-use/;
const embeddingModels = /embedding/;
const moderationModels = /moderation/;
const drawingModels = /gpt-image|dall-e/;
const redrawingModels = /gpt-image|dall-e-2/;
const speakingModels = /tts/;
const transcribingModels = /^whisper|transcribe/;
const translatingModels = /^whisper/;
/** Matches models of the older completions endpoint. */
const completionModels = /(^|:)(babbage|davinci)-|-instruct(-|:|$)/;
const thinkingModels = /^(o\d|gpt-([5-9]|\d\d)|codex)/;
/** Matches models that are served only at `/responses`. */
const responsesOnlyModels = /codex|-pro(-|$)/;
/** Matches models that are served only at `/chat/completions`. */
const chatOnlyModels = /search-preview/;
const blindModels = /^(gpt-3|gpt-4(-\d{4}|$)|o1-mini|o3-mini)/;

/** Smallest `max_output_tokens` that `/responses` accepts. */
const minOutputTokens = 16;

/** Hosted tools that OpenAI runs for the newer models at `/responses`. */
const hostedTools = (['web_search', 'mcp'] as const).map((kind) =>
  formatHostedCapability(kind, responsesUpstream.name),
);

/** Guesses the capabilities of OpenAI's models. Unknown models are assumed to accept images, as most models do. */
const guess: Guess = (id) => {
  if (hasOwnEndpoint(id)) return [];
  const capabilities = unusedModels.test(id) ? undefined : guessChatCapabilities(id);
  return capabilities && !chatOnlyModels.test(id) && !blindModels.test(id)
    ? [...capabilities, ...hostedTools]
    : capabilities;
};

/** Returns whether a model is served only in a format for another operation than chat. */
function hasOwnEndpoint(id: string): boolean {
  return [embeddingModels, completionModels, moderationModels, drawingModels, speakingModels, transcribingModels].some(
    (names) => names.test(id),
  );
}

function guessChatCapabilities(id: string): Capability[] {
  if (id.endsWith('-chat-latest')) return capabilitiesIf({ tools: true, vision: true, json: true });
  if (/^gpt-[34]|^chatgpt-/.test(id)) return capabilitiesIf({ tools: true, vision: !blindModels.test(id), json: true });
  return capabilitiesIf({ tools: true, vision: !blindModels.test(id), thinking: thinkingModels.test(id), json: true });
}

const readList = createNameReader((id) => (id.startsWith('ft:') ? guess(id.slice(3)) : guess(id)));

/**
 * OpenAI (API reference, "Chat", "Responses", "Models"). OpenAI's list contains only names. Clients of the `responses` format are served at
 * `/responses`, and so are all clients of models that have no other endpoint.
 */
export const openai: Provider = {
  title: 'OpenAI',
  format: chatUpstream,
  keyVariables: ['OPENAI_API_KEY'],
  needs: [],
  url: () => 'https://api.openai.com/v1',
  authorize: bearer,
  list: {
    path: '/models',
    // `auto` selects the first suitable model. Pro models cost many times as much, so they come last.
    read: (answer) =>
      readList(answer).sort((a, b) => Number(responsesOnlyModels.test(a.id)) - Number(responsesOnlyModels.test(b.id))),
  },
  guess,
  rules: { maxTokens: 'max_completion_tokens', drop: engineHints, replayedThinking: 'none' },
  adaptation: { description: 'no `reasoning_effort` for models that do not think', apply: removeUselessEffort },
  takesFiles: true,
  takesCustomTools: true,
  otherFormats: [
    {
      format: responsesUpstream,
      compacts: true,
      encrypts: true,
      serves: (id) => {
        if (chatOnlyModels.test(id) || hasOwnEndpoint(id)) return 'not';
        return responsesOnlyModels.test(id) ? 'only' : 'also';
      },
      adaptation: {
        description: 'thinking only as OpenAI has encrypted it, `max_output_tokens` from 16',
        apply: (request, model) => raiseOutputLimit(removeForeignThinking(request, model)),
      },
    },
    { format: completionsUpstream, serves: (id) => onlyIf(completionModels.test(id)) },
    { format: embeddingsUpstream, serves: (id) => onlyIf(embeddingModels.test(id)) },
    { format: moderationsUpstream, serves: (id) => onlyIf(moderationModels.test(id)) },
    { format: imagesUpstream, serves: (id) => onlyIf(drawingModels.test(id)) },
    { format: imageEditsUpstream, serves: (id) => onlyIf(redrawingModels.test(id)) },
    { format: speechUpstream, serves: (id) => onlyIf(speakingModels.test(id)) },
    { format: transcriptionsUpstream, serves: (id) => onlyIf(transcribingModels.test(id)) },
    { format: audioTranslationsUpstream, serves: (id) => onlyIf(translatingModels.test(id)) },
  ],
};

/** Removes `reasoning_effort`, which a model without thinking refuses. */
function removeUselessEffort(request: JsonObject, { capabilities }: ModelInfo): JsonObject {
  if (capabilities.includes('thinking')) return request;
  const { reasoning_effort: _, ...rest } = request;
  return rest;
}

/**
 * Removes thinking that OpenAI has not encrypted. For a model that does not think, also removes the request for encrypted thinking. OpenAI
 * refuses both. Whether a model thinks shows in its name or, at providers with arbitrary names, in a `reasoning` field of the request.
 */
function removeForeignThinking(request: JsonObject, { id, capabilities }: ModelInfo): JsonObject {
  const { input, include, reasoning } = request;
  const mayThink = capabilities.includes('thinking') && (thinkingModels.test(id) || isJsonObject(reasoning));
  const requestedParts =
    Array.isArray(include) && !mayThink ? include.filter((part) => part !== encryptedThinking) : include;
  return {
    ...request,
    ...(Array.isArray(input) && { input: input.filter((item) => !isForeignThinking(item)) }),
    ...(requestedParts !== undefined && { include: requestedParts }),
  };
}

/**
 * Raises the output limit to OpenAI's minimum. Programs that test a key request a single token, which other formats allow.
 */
function raiseOutputLimit(request: JsonObject): JsonObject {
  const { max_output_tokens: limit } = request;
  return typeof limit === 'number' && limit < minOutputTokens
    ? { ...request, max_output_tokens: minOutputTokens }
    : request;
}

function isForeignThinking(item: Json): boolean {
  return isJsonObject(item) && item['type'] === 'reasoning' && !item['encrypted_content'];
}
