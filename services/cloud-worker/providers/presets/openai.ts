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
import { capabilitiesIf, readNames } from '../read-cards.ts';
import { engineHints } from '../request-rules.ts';

/** Models of other endpoints, and those that need a tool of the upstream. */
const otherEndpoints = /audio|realtime|sora|deep-research|computer-use/;
const embeds = /embedding/;
const moderates = /moderation/;
const draws = /gpt-image|dall-e/;
const redraws = /gpt-image|dall-e-2/;
const speaks = /tts/;
const transcribes = /^whisper|transcribe/;
const translates = /^whisper/;
/** Models of the older completions. */
const completes = /(^|:)(babbage|davinci)-|-instruct(-|:|$)/;
const thinks = /^(o\d|gpt-([5-9]|\d\d)|codex)/;
/** Models that are served at `/responses` only, and at `/chat/completions` only. */
const responsesOnly = /codex|-pro(-|$)/;
const chatOnly = /search-preview/;
const seesNothing = /^(gpt-3|gpt-4(-\d{4}|$)|o1-mini|o3-mini)/;

/** The least `max_output_tokens` at `/responses`. */
const leastOutput = 16;

/** The hosted tools that OpenAI runs for the newer ones of the models that it serves at `/responses`. */
const hosted = (['web_search', 'mcp'] as const).map((kind) => hostedCapability(kind, responsesUpstream.name));

/** Guesses the capabilities of OpenAI's models; unknown ones have all. */
const guess: Guess = (id) => {
  if (hasOwnEndpoint(id)) return [];
  const capabilities = otherEndpoints.test(id) ? undefined : guessOwn(id);
  return capabilities && !chatOnly.test(id) && !seesNothing.test(id) ? [...capabilities, ...hosted] : capabilities;
};

/** Whether a model does nothing but what one of the further formats is for. */
function hasOwnEndpoint(id: string): boolean {
  return [embeds, completes, moderates, draws, speaks, transcribes].some((names) => names.test(id));
}

function guessOwn(id: string): Capability[] {
  if (id.endsWith('-chat-latest')) return capabilitiesIf({ tools: true, vision: true, json: true });
  if (/^gpt-[34]|^chatgpt-/.test(id)) return capabilitiesIf({ tools: true, vision: !seesNothing.test(id), json: true });
  return capabilitiesIf({ tools: true, vision: !seesNothing.test(id), thinking: thinks.test(id), json: true });
}

const readList = readNames((id) => (id.startsWith('ft:') ? guess(id.slice(3)) : guess(id)));

/**
 * OpenAI (API reference, "Chat", "Responses", "Models"). Its list has names only. Responses clients are served at `/responses`, and
 * so are all clients of the models that have no other endpoint.
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
    // `auto` takes the first one that is able: never a pro model, which costs many times as much, while there are others.
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
        apply: (request, model) => withLeastOutput(withOwnThinking(request, model)),
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

/** A model that does not think refuses `reasoning_effort`. */
function withoutUselessEffort(request: JsonObject, { capabilities }: ModelInfo): JsonObject {
  if (capabilities.includes('thinking')) return request;
  const { reasoning_effort: _, ...rest } = request;
  return rest;
}

/**
 * OpenAI refuses thinking that it has not encrypted, and a request for encrypted thinking to a model that does not think. The name
 * tells which ones think; where it is arbitrary, a request that says how to think does.
 */
function withOwnThinking(request: JsonObject, { id, capabilities }: ModelInfo): JsonObject {
  const { input, include, reasoning } = request;
  const mayThink = capabilities.includes('thinking') && (thinks.test(id) || isJsonObject(reasoning));
  const asked = Array.isArray(include) && !mayThink ? include.filter((what) => what !== encryptedThinking) : include;
  return {
    ...request,
    ...(Array.isArray(input) && { input: input.filter((item) => !isForeignThinking(item)) }),
    ...(asked !== undefined && { include: asked }),
  };
}

/** In other formats, programs ask for one token to see whether a key works; here that is refused. */
function withLeastOutput(request: JsonObject): JsonObject {
  const { max_output_tokens: asked } = request;
  return typeof asked === 'number' && asked < leastOutput ? { ...request, max_output_tokens: leastOutput } : request;
}

function isForeignThinking(item: Json): boolean {
  return isJsonObject(item) && item['type'] === 'reasoning' && !item['encrypted_content'];
}
