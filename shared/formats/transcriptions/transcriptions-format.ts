import type { JsonObject } from '#shared/core/json.ts';
import { openaiApi } from '../apis/openai-api.ts';
import type { ClientFormat, ClientRoute, Needs, RequestParameters } from '../client-format.ts';
import { estimateTokens } from '../estimate-tokens.ts';
import { readJsonRequest } from '../json-request.ts';
import { createOpenaiErrorAnswer } from '../openai/error.ts';
import { createOpenaiLimitHeaders } from '../openai/limit-headers.ts';
import { PlainStream } from '../sse/plain-stream.ts';
import { parseTranscriptionRequest, type TranscriptionRequest } from './parse-transcription-request.ts';
import { estimateSoundSeconds } from './sound-seconds.ts';

/** Answer formats other than JSON. The router relays such answers unchanged. */
const plainFormats: ReadonlySet<string> = new Set(['text', 'srt', 'vtt']);

/** Maximum tokens per second of speech: four words of two tokens each. */
const tokensPerSecond = 8;

/** OpenAI's transcriptions format: the model writes down the speech in an audio file (OpenAI API reference, "Create transcription"). */
export const transcriptionsFormat = createSoundFormat('transcriptions', {
  path: '/audio/transcriptions',
  operation: 'transcribe',
});

/** Creates a format in which a model writes down speech. The request is a form. The answer is JSON, a text or subtitles. */
export function createSoundFormat(
  name: string,
  { path, operation }: { path: string; operation: ClientRoute['operation'] },
): ClientFormat {
  return {
    name,
    api: openaiApi,
    routes: [{ path, operation, isForm: true }],
    passedHeaders: [],
    answerIdPrefix: `${operation}-`,
    read: (body) =>
      readJsonRequest(body, (parsed, skim) => toParameters(skim(() => parseTranscriptionRequest(parsed)))),
    estimateInput: (request: JsonObject) => computeNeeds(request as TranscriptionRequest).inputTokens,
    errorAnswer: createOpenaiErrorAnswer,
    answerHeaders: ['content-type'],
    limitHeaders: createOpenaiLimitHeaders,
    openStream: () => new PlainStream(),
  };
}

function toParameters(request: TranscriptionRequest): RequestParameters {
  const seconds = estimateSoundSeconds(request.file);
  return {
    model: request.model,
    stream: plainFormats.has(request.response_format ?? ''),
    needs: computeNeeds(request),
    maxOutput: seconds * tokensPerSecond,
    units: { seconds },
    serviceTier: undefined,
    conversation: undefined,
  };
}

function computeNeeds({ prompt = '' }: TranscriptionRequest): Needs {
  return { tools: false, vision: false, thinking: false, json: false, inputTokens: estimateTokens(prompt) };
}
