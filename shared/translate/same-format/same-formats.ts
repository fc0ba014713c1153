import { imagesFormat } from '#shared/formats/images/images-format.ts';
import type { Ending, AnswerContext, Translation, StreamTranslation } from '../translation.ts';
import { imageEditsFormat } from '#shared/formats/image-edits/image-edits-format.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { ModelOperation } from '#shared/core/operation.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { noUsage, readCount, type Usage } from '#shared/core/usage.ts';
import { readChatEventError, readChatError } from '../upstreams/chat/upstream-error.ts';
import { encodeForm } from '../upstreams/encode-form.ts';
import { moderationsFormat } from '#shared/formats/moderations/moderations-format.ts';
import { readInputUsage } from '#shared/formats/chat/usage.ts';
import { speechFormat, countCharacters, type SpeechRequest } from '#shared/formats/speech/speech-format.ts';
import {
  type TranscriptionRequest,
  estimateSoundSeconds,
  audioTranslationsFormat,
  transcriptionsFormat,
} from '#shared/formats/transcriptions/transcriptions-format.ts';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import type { HttpUpstreamFormat } from '../upstream-format.ts';
import { embeddingsChanges } from './embeddings-changes.ts';
import { rerankChanges } from './rerank-changes.ts';
import { embeddingsFormat } from '#shared/formats/embeddings/embeddings-format.ts';
import { rerankFormat } from '#shared/formats/rerank/rerank-format.ts';

/** OpenAI's embeddings, as engines and providers serve them. */
export const embeddingsUpstream = createUpstream(embeddingsFormat);
/** Document ranking, as Cohere, Jina, vLLM, SGLang and llama.cpp serve it. */
export const rerankUpstream = createUpstream(rerankFormat);
/** OpenAI's moderations, as OpenAI and Mistral serve them. */
export const moderationsUpstream = createUpstream(moderationsFormat);
/** OpenAI's images, as OpenAI and some engines serve them. */
export const imagesUpstream = createUpstream(imagesFormat);
/** OpenAI's image edits, as OpenAI and some engines serve them. */
export const imageEditsUpstream = createUpstream(imageEditsFormat);
/** OpenAI's speech, as OpenAI and some engines serve it. */
export const speechUpstream = createUpstream(speechFormat);
/** OpenAI's transcriptions, as OpenAI and some engines serve them. */
export const transcriptionsUpstream = createUpstream(transcriptionsFormat);
/** OpenAI's translations of speech to English text, as OpenAI and some engines serve them. */
export const audioTranslationsUpstream = createUpstream(audioTranslationsFormat);

/** The changes in both formats that turn sound into text. */
const soundChanges = {
  recallFields: (body: JsonObject) => ({ seconds: estimateSoundSeconds((body as TranscriptionRequest).file) }),
  // The transcription of silence is empty.
  bytes: { ending: (answerContext: AnswerContext) => endSound(answerContext, {}), mayBeEmpty: true },
  translateReply: toSoundReply,
};

/** The changes in speech requests and answers. The sound is relayed as it arrives. */
const speechChanges = {
  recallFields: (body: JsonObject) => ({ characters: countCharacters(body as SpeechRequest) }),
  bytes: { ending: endSpeech },
  translateReply: () => {
    throw new RouterError('internal', 'Sound is not translated.');
  },
};

/** The upstream formats that are the same as client formats, and stream no events. */
export const sameFormatUpstreams: readonly HttpUpstreamFormat[] = [
  embeddingsUpstream,
  rerankUpstream,
  moderationsUpstream,
  imagesUpstream,
  imageEditsUpstream,
  speechUpstream,
  transcriptionsUpstream,
  audioTranslationsUpstream,
];

/**
 * The formats that upstreams serve as clients send them, without streams of events: what changes in each, besides the model's name in
 * requests.
 */
const sameFormats: readonly (Pick<Translation, 'client' | 'upstream' | 'translateReply'> & Partial<Translation>)[] = [
  { client: embeddingsFormat, upstream: embeddingsUpstream, ...embeddingsChanges },
  { client: rerankFormat, upstream: rerankUpstream, ...rerankChanges },
  { client: moderationsFormat, upstream: moderationsUpstream, translateReply: toModerationsReply },
  { client: imagesFormat, upstream: imagesUpstream, translateReply: toPicturesReply },
  { client: imageEditsFormat, upstream: imageEditsUpstream, translateReply: toPicturesReply },
  { client: speechFormat, upstream: speechUpstream, ...speechChanges },
  { client: transcriptionsFormat, upstream: transcriptionsUpstream, ...soundChanges },
  { client: audioTranslationsFormat, upstream: audioTranslationsUpstream, ...soundChanges },
];

export const sameFormatTranslations: readonly Translation[] = sameFormats.map((format) => ({
  passesHeaders: false,
  translateRequest: (body, { model }) => ({ ...body, model }),
  createStream: refuseStream,
  ...format,
}));

/** Creates the upstream format that is the same as a client format. Errors have the form of chat completions. */
function createUpstream(client: ClientFormat): HttpUpstreamFormat {
  const [{ path, operation, isForm }] = client.routes;
  return {
    name: client.name,
    // None of these formats has a route that counts tokens.
    operation: operation as ModelOperation,
    path,
    headers: {},
    ...(isForm === true && { encode: encodeForm }),
    estimateInput: (request) => client.estimateInput(request),
    readError: readChatError,
  };
}

/** The `Translation.createStream` of formats without streamed answers. Always throws, because no client can request such a stream. */
function refuseStream(): StreamTranslation {
  throw new RouterError('internal', 'An answer in this format is never streamed.');
}

/**
 * Returns the upstream's body with the client's id and model, and without `usage`. Estimates the input tokens if the upstream does not
 * report them.
 * @throws RouterError `upstream_failed` if the answer has no results
 */
function toModerationsReply(body: JsonObject, answerContext: AnswerContext): { body: JsonObject; ending: Ending } {
  const failure = readChatEventError(body);
  if (failure) throw failure;
  const { results, usage: reported, ...rest } = body;
  if (!Array.isArray(results) || !results.every(isJsonObject))
    throw new RouterError('upstream_failed', 'The upstream has not judged the input.');
  const usage = readInputUsage(reported, answerContext);
  const routerFields = { id: answerContext.id, model: answerContext.model, results };
  return { body: { ...rest, ...routerFields }, ending: { usage, finishReason: 'stop' } };
}

/**
 * Returns the upstream's body as the client's answer. Adds the time of the answer if the body has no time. The usage has the number of
 * pictures and the tokens that the upstream reports.
 * @throws RouterError `upstream_failed` if the answer has no pictures
 */
function toPicturesReply(body: JsonObject, answerContext: AnswerContext): { body: JsonObject; ending: Ending } {
  const failure = readChatEventError(body);
  if (failure) throw failure;
  const { data, usage: reported } = body;
  if (!Array.isArray(data) || data.length === 0 || !data.every(isPicture))
    throw new RouterError('upstream_failed', 'The upstream has sent no picture.');
  const usage: Usage = { ...readPicturesUsage(reported), units: { images: data.length } };
  return { body: { created: answerContext.created, ...body }, ending: { usage, finishReason: 'stop' } };
}

function isPicture(item: Json): boolean {
  return isJsonObject(item) && (typeof item['b64_json'] === 'string' || typeof item['url'] === 'string');
}

/** Reads the reported usage. Image upstreams name their counts as the Responses format does. */
function readPicturesUsage(reported: Json | undefined): Usage {
  const { input_tokens: input, output_tokens: output } = isJsonObject(reported) ? reported : {};
  return { ...noUsage, promptTokens: readCount(input), completionTokens: readCount(output) };
}

/** Returns how an answer has ended. The usage counts the characters of the request, because no upstream reports them. */
function endSpeech({ promptTokens, recalled }: AnswerContext): Ending {
  const characters = recalled?.['characters'];
  const units = { characters: typeof characters === 'number' ? characters : 0 };
  return { usage: { ...noUsage, promptTokens: promptTokens?.() ?? 0, units }, finishReason: 'stop' };
}

/**
 * Returns the upstream's body unchanged as the client's answer.
 * @throws RouterError `upstream_failed` if the answer has no text
 */
function toSoundReply(body: JsonObject, answerContext: AnswerContext): { body: JsonObject; ending: Ending } {
  const failure = readChatEventError(body);
  if (failure) throw failure;
  if (typeof body['text'] !== 'string')
    throw new RouterError('upstream_failed', 'The upstream has not sent what was said.');
  return { body, ending: endSound(answerContext, body) };
}

/**
 * Returns how an answer has ended. In the usage, some upstreams report tokens, others seconds. Some also report the duration of the sound,
 * as a number or a text.
 */
function endSound({ recalled }: AnswerContext, { usage: reported, duration }: JsonObject): Ending {
  const { input_tokens: input, output_tokens: output, seconds } = isJsonObject(reported) ? reported : {};
  const heardSeconds = toCount(seconds) || toCount(duration) || toCount(recalled?.['seconds']);
  const usage: Usage = {
    ...noUsage,
    promptTokens: toCount(input),
    completionTokens: toCount(output),
    units: { seconds: heardSeconds },
  };
  return { usage, finishReason: 'stop' };
}

function toCount(value: Json | undefined): number {
  const number = Number(value);
  return Number.isFinite(number) && number > 0 ? Math.ceil(number) : 0;
}
