import { RouterError } from '#shared/core/errors.ts';
import { noUsage } from '#shared/core/usage.ts';
import { speechFormat, countCharacters } from '#shared/formats/speech/speech-format.ts';
import type { SpeechRequest } from '#shared/formats/speech/request.ts';
import { refuseStream } from '../refuse-stream.ts';
import type { Ending, AnswerContext, Translation } from '../translation.ts';
import { speechUpstream } from '../upstreams/speech/speech-upstream.ts';
import { answerRules, requestRules } from './field-rules.ts';

/** Sends speech requests to upstreams of the same format. Relays the sound as it arrives. */
export const speechToSpeech: Translation = {
  client: speechFormat,
  upstream: speechUpstream,
  requestRules,
  answerRules,
  passesHeaders: false,
  recallFields: (body) => ({ characters: countCharacters(body as SpeechRequest) }),
  translateRequest: (body, { model }) => ({ ...body, model }),
  bytes: { ending: computeEnding },
  translateReply: () => {
    throw new RouterError('internal', 'Sound is not translated.');
  },
  createStream: refuseStream,
};

/** Returns how an answer has ended. The usage counts the characters of the request, because no upstream reports them. */
function computeEnding({ promptTokens, recalled }: AnswerContext): Ending {
  const characters = recalled?.['characters'];
  const units = { characters: typeof characters === 'number' ? characters : 0 };
  return { usage: { ...noUsage, promptTokens: promptTokens?.() ?? 0, units }, finishReason: 'stop' };
}
