import { RouterError } from '#shared/core/errors.ts';
import { noUsage } from '#shared/core/usage.ts';
import { speechFormat, countCharacters } from '#shared/formats/speech/speech-format.ts';
import type { SpeechRequest } from '#shared/formats/speech/parse-speech-request.ts';
import type { Ending, AnswerContext } from '../translation.ts';
import { createSameFormatTranslation, createSameFormatUpstream } from './same-format.ts';

/** OpenAI's speech, as OpenAI and some engines serve it. */
export const speechUpstream = createSameFormatUpstream({
  client: speechFormat,
  operation: 'speak',
  path: '/audio/speech',
});

/** Sends speech requests to upstreams of the same format. Relays the sound as it arrives. */
export const speechToSpeech = createSameFormatTranslation(speechFormat, speechUpstream, {
  recallFields: (body) => ({ characters: countCharacters(body as SpeechRequest) }),
  bytes: { ending: computeEnding },
  translateReply: () => {
    throw new RouterError('internal', 'Sound is not translated.');
  },
});

/** Returns how an answer has ended. The usage counts the characters of the request, because no upstream reports them. */
function computeEnding({ promptTokens, recalled }: AnswerContext): Ending {
  const characters = recalled?.['characters'];
  const units = { characters: typeof characters === 'number' ? characters : 0 };
  return { usage: { ...noUsage, promptTokens: promptTokens?.() ?? 0, units }, finishReason: 'stop' };
}
