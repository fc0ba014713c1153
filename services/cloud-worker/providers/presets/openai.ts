import { hostedCapability, type Capability, type ModelInfo } from '#shared/broker/contract/announcement.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { audioTranslationsUpstream } from '#shared/translate/upstreams/audio-translations/audio-translations-upstream.ts';
import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import { encryptedThinking, responsesUpstream } from '#shared/translate/upstreams/responses/responses-upstream.ts';
import { completionsUpstream } from '#shared/translate/upstreams/completions/completions-upstream.ts';
import { embeddingsUpstream } from '#shared/translate/upstreams/embeddings/embeddings-upstream.ts';
import { imageEditsUpstream } from '#shared/translate/upstreams/image-edits/image-edits-upstream.ts';
import { imagesUpstream } from '#shared/translate/upstreams/images/images-upstream.ts';
import { moderationsUpstream } from '#shared/translate/upstreams/moderations/moderations-upstream.ts';
import { speechUpstream } from '#shared/translate/upstreams/speech/speech-upstream.ts';
import { transcriptionsUpstream } from '#shared/translate/upstreams/transcriptions/transcriptions-upstream.ts';
import { onlyIf } from '../further-formats.ts';
import { bearer, type Guess, type Provider } from '../provider.ts';
import { capabilitiesIf, createNameReader } from '../read-cards.ts';
import { engineHints } from '../request-rules.ts';

/** Matches models of endpoints that the router does not use, and models that need a hosted tool. */
const otherEndpoints = /audio|realtime|sora|deep-research|computer-use/;
const embeds = /embedding/;
const moderates = /moderation/;
const draws = /gpt-image|dall-e/;
const redraws = /gpt-image|dall-e-2/;
const speaks = /tts/;
const transcribes = /^whisper|transcribe/;
const translates = /^whisper/;
/** Matches models of the older completions endpoint. */
const completes = /(^|:)(babbage|davinci)-|-instruct(-|:|$)/;
const thinks = /^(o\d|gpt-([5-9]|\d\d)|codex)/;
/** Matches models that are served only at `/responses`. */
const responsesOnly = /codex|-pro(-|$)/;
/** Matches models that are served only at `/chat/completions`. */
const chatOnly = /search-preview/;
const seesNothing = /^(gpt-3|gpt-4(-\d{4}|$)|o1-mini|o3-mini)/;

/** Smallest `max_output_tokens` that `/responses` accepts. */
const minOutputTokens = 16;

/** Hosted tools that OpenAI runs for the newer models at `/responses`. */
const hosted = (['web_search', 'mcp'] as const).map((kind) => hostedCapability(kind, responsesUpstream.name));

/** Guesses the capabilities of OpenAI's models. Unknown models are assumed to see images, as most do. */
const guess: Guess = (id) => {
  if (hasOwnEndpoint(id)) return [];
  const capabilities = otherEndpoints.test(id) ? undefined : guessOwn(id);
  return capabilities && !chatOnly.test(id) && !seesNothing.test(id) ? [...capabilities, ...hosted] : capabilities;
};

/** Returns whether a model is served only in one of the formats for other operations than chat. */
function hasOwnEndpoint(id: string): boolean {
  return [embeds, completes, moderates, draws, speaks, transcribes].some((names) => names.test(id));
}

function guessOwn(id: string): Capability[] {
  if (id.endsWith('-chat-latest')) return capabilitiesIf({ tools: true, vision: true, json: true });
  if (/^gpt-[34]|^chatgpt-/.test(id)) return capabilitiesIf({ tools: true, vision: !seesNothing.test(id), json: true });
  return capabilitiesIf({ tools: true, vision: !seesNothing.test(id), thinking: thinks.test(id), json: true });
}

const readList = createNameReader((id) => (id.startsWith('ft:') ? guess(id.slice(3)) : guess(id)));

/**
 * OpenAI (API reference, "Chat", "Responses", "Models"). Its list contains only names. Clients of the `responses` format are served at
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
      readList(answer).sort((a, b) => Number(responsesOnly.test(a.id)) - Number(responsesOnly.test(b.id))),
  },
  guess,
  rules: { maxTokens: 'max_completion_tokens', drop: engineHints, replayedThinking: 'none' },
  adaptation: { description: 'no `reasoning_effort` for models that do not think', apply: withoutUselessEffort },
  takesFiles: true,
  takesCustomTools: true,
  further: [
    {
      format: responsesUpstream,
      compacts: true,
      encrypts: true,
      serves: (id) => {
        if (chatOnly.test(id) || hasOwnEndpoint(id)) return 'not';
        return responsesOnly.test(id) ? 'only' : 'also';
      },
      adaptation: {
        description: 'thinking only as OpenAI has encrypted it, `max_output_tokens` from 16',
        apply: (request, model) => withMinOutput(withOwnThinking(request, model)),
      },
    },
    { format: completionsUpstream, serves: (id) => onlyIf(completes.test(id)) },
    { format: embeddingsUpstream, serves: (id) => onlyIf(embeds.test(id)) },
    { format: moderationsUpstream, serves: (id) => onlyIf(moderates.test(id)) },
    { format: imagesUpstream, serves: (id) => onlyIf(draws.test(id)) },
    { format: imageEditsUpstream, serves: (id) => onlyIf(redraws.test(id)) },
    { format: speechUpstream, serves: (id) => onlyIf(speaks.test(id)) },
    { format: transcriptionsUpstream, serves: (id) => onlyIf(transcribes.test(id)) },
    { format: audioTranslationsUpstream, serves: (id) => onlyIf(translates.test(id)) },
  ],
};

/** Removes `reasoning_effort`, which a model without thinking refuses. */
function withoutUselessEffort(request: JsonObject, { capabilities }: ModelInfo): JsonObject {
  if (capabilities.includes('thinking')) return request;
  const { reasoning_effort: _, ...rest } = request;
  return rest;
}

/**
 * Removes thinking that OpenAI has not encrypted, and, for a model that does not think, the request for encrypted thinking. OpenAI refuses
 * both. The model's name shows whether it thinks. As names are arbitrary at some providers, a `reasoning` field in the request shows it,
 * too.
 */
function withOwnThinking(request: JsonObject, { id, capabilities }: ModelInfo): JsonObject {
  const { input, include, reasoning } = request;
  const mayThink = capabilities.includes('thinking') && (thinks.test(id) || isJsonObject(reasoning));
  const requested =
    Array.isArray(include) && !mayThink ? include.filter((what) => what !== encryptedThinking) : include;
  return {
    ...request,
    ...(Array.isArray(input) && { input: input.filter((item) => !isForeignThinking(item)) }),
    ...(requested !== undefined && { include: requested }),
  };
}

/**
 * Raises the output limit to OpenAI's minimum. Programs request a single token to see whether a key works, which other formats allow.
 */
function withMinOutput(request: JsonObject): JsonObject {
  const { max_output_tokens: requested } = request;
  return typeof requested === 'number' && requested < minOutputTokens
    ? { ...request, max_output_tokens: minOutputTokens }
    : request;
}

function isForeignThinking(item: Json): boolean {
  return isJsonObject(item) && item['type'] === 'reasoning' && !item['encrypted_content'];
}
