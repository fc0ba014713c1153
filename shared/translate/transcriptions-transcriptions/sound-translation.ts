import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { noUsage, type Usage } from '#shared/core/usage.ts';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import type { TranscriptionRequest } from '#shared/formats/transcriptions/request.ts';
import { estimateSoundSeconds } from '#shared/formats/transcriptions/sound-seconds.ts';
import { refuseStream } from '../refuse-stream.ts';
import type { Ending, AnswerContext, Translation } from '../translation.ts';
import type { HttpUpstreamFormat } from '../upstream-format.ts';
import { readChatEventError } from '../upstreams/chat/upstream-error.ts';
import { answerRules, requestRules } from './field-rules.ts';

/** Creates the translation between a client format that turns speech into text, and the same format of upstreams. */
export function createSoundTranslation(client: ClientFormat, upstream: HttpUpstreamFormat): Translation {
  return {
    client,
    upstream,
    requestRules,
    answerRules,
    passesHeaders: false,
    recallFields: (body) => ({ seconds: estimateSoundSeconds((body as TranscriptionRequest).file) }),
    translateRequest: (body, { model }) => ({ ...body, model }),
    // The transcription of silence is empty.
    bytes: { ending: (answerContext) => computeEnding(answerContext, {}), mayBeEmpty: true },
    translateReply: toSoundReply,
    createStream: refuseStream,
  };
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
