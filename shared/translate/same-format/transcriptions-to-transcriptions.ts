import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { noUsage, type Usage } from '#shared/core/usage.ts';
import type { TranscriptionRequest } from '#shared/formats/transcriptions/parse-transcription-request.ts';
import { estimateSoundSeconds } from '#shared/formats/transcriptions/sound-seconds.ts';
import type { Ending, AnswerContext } from '../translation.ts';
import { readChatEventError } from '../upstreams/chat/upstream-error.ts';
import { audioTranslationsFormat } from '#shared/formats/audio-translations/audio-translations-format.ts';
import { transcriptionsFormat } from '#shared/formats/transcriptions/transcriptions-format.ts';
import { encodeForm } from '../upstreams/encode-form.ts';
import { createSameFormatTranslation, createSameFormatUpstream } from './same-format.ts';

/** OpenAI's transcriptions, as OpenAI and some engines serve them. */
export const transcriptionsUpstream = createSameFormatUpstream({
  client: transcriptionsFormat,
  operation: 'transcribe',
  path: '/audio/transcriptions',
  encode: encodeForm,
});

/** OpenAI's translations of speech to English text, as OpenAI and some engines serve them. */
export const audioTranslationsUpstream = createSameFormatUpstream({
  client: audioTranslationsFormat,
  operation: 'translate',
  path: '/audio/translations',
  encode: encodeForm,
});

/** The translation of both formats that turn speech into text. */
const soundTranslation = {
  recallFields: (body: JsonObject) => ({ seconds: estimateSoundSeconds((body as TranscriptionRequest).file) }),
  // The transcription of silence is empty.
  bytes: { ending: (answerContext: AnswerContext) => computeEnding(answerContext, {}), mayBeEmpty: true },
  translateReply: toSoundReply,
};

export const transcriptionsToTranscriptions = createSameFormatTranslation(
  transcriptionsFormat,
  transcriptionsUpstream,
  soundTranslation,
);

export const audioTranslationsToAudioTranslations = createSameFormatTranslation(
  audioTranslationsFormat,
  audioTranslationsUpstream,
  soundTranslation,
);

/**
 * Returns the upstream's body unchanged as the client's answer.
 * @throws RouterError `upstream_failed` if the answer has no text
 */
function toSoundReply(body: JsonObject, answerContext: AnswerContext): { body: JsonObject; ending: Ending } {
  const failure = readChatEventError(body);
  if (failure) throw failure;
  if (typeof body['text'] !== 'string')
    throw new RouterError('upstream_failed', 'The upstream has not sent what was said.');
  return { body, ending: computeEnding(answerContext, body) };
}

/**
 * Returns how an answer has ended. In the usage, some upstreams report tokens, others seconds. Some also report the duration of the sound,
 * as a number or a text.
 */
function computeEnding({ recalled }: AnswerContext, { usage: reported, duration }: JsonObject): Ending {
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
