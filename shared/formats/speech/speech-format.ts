import type { JsonObject } from '#shared/core/json.ts';
import { openaiApi } from '../apis/openai-api.ts';
import type { ClientFormat, Needs, RequestParameters } from '../client-format.ts';
import { estimateTokens } from '../estimate-tokens.ts';
import { readJsonRequest } from '../json-request.ts';
import { createOpenaiErrorAnswer } from '../openai/error.ts';
import { createOpenaiLimitHeaders } from '../openai/limit-headers.ts';
import { PlainStream } from '../sse/plain-stream.ts';
import { parseSpeechRequest, type SpeechRequest } from './parse-speech-request.ts';

/** OpenAI's speech format: the model reads a text aloud. The router relays the sound as it arrives. */
export const speechFormat: ClientFormat = {
  name: 'speech',
  api: openaiApi,
  routes: [{ path: '/audio/speech', operation: 'speak' }],
  passedHeaders: [],
  answerIdPrefix: 'speech-',
  read: (body) => readJsonRequest(body, (parsed) => toParameters(parseSpeechRequest(parsed))),
  estimateInput: (request: JsonObject) => computeNeeds(request as SpeechRequest).inputTokens,
  errorAnswer: createOpenaiErrorAnswer,
  answerHeaders: ['content-type'],
  limitHeaders: createOpenaiLimitHeaders,
  openStream: () => new PlainStream(),
};

function toParameters(request: SpeechRequest): RequestParameters {
  return {
    model: request.model,
    stream: true,
    needs: computeNeeds(request),
    maxOutput: 0,
    units: { characters: countCharacters(request) },
    serviceTier: undefined,
    conversation: undefined,
  };
}

export function countCharacters({ input }: SpeechRequest): number {
  return Array.from(input).length;
}

function computeNeeds({ input }: SpeechRequest): Needs {
  return { tools: false, vision: false, thinking: false, json: false, inputTokens: estimateTokens(input) };
}
