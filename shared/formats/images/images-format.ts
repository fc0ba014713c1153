import type { JsonObject } from '#shared/core/json.ts';
import { openaiApi } from '../apis/openai-api.ts';
import { chatStreamAdditions } from '../chat/stream-additions.ts';
import type { ClientFormat, Needs, RequestParameters } from '../client-format.ts';
import { estimateTokens } from '../estimate-tokens.ts';
import { readJsonRequest } from '../json-request.ts';
import { openaiErrorAnswer } from '../openai/error.ts';
import { openaiLimitHeaders } from '../openai/limit-headers.ts';
import { StatelessStream } from '../sse/streamed-answer.ts';
import { parseImagesRequest } from './parse-images-request.ts';
import type { ImagesRequest } from './request.ts';

/** The model name that the router assumes for a request without one, because OpenAI's API allows such requests here. */
export const anyModel = 'auto';

/** Tokens to reserve for one picture: the most that an OpenAI picture uses ("Image generation", large and of high quality). */
export const tokensPerPicture = 6240;

/** OpenAI's images format: the model draws pictures from a text. */
export const imagesFormat: ClientFormat = {
  name: 'images',
  api: openaiApi,
  routes: [{ path: '/images/generations', operation: 'draw' }],
  passedHeaders: [],
  answerIdPrefix: 'img-',
  read: (body) => readJsonRequest(body, (parsed) => toParameters(parseImagesRequest(parsed))),
  estimateInput: (request: JsonObject) => computeNeeds(request as ImagesRequest).inputTokens,
  errorAnswer: openaiErrorAnswer,
  limitHeaders: openaiLimitHeaders,
  // Pictures are never streamed. The type requires a stream, so any format's additions will do.
  openStream: ({ requestId }) => new StatelessStream(chatStreamAdditions, requestId),
};

function toParameters(request: ImagesRequest): RequestParameters {
  return {
    model: request.model ?? anyModel,
    stream: false,
    needs: computeNeeds(request),
    maxOutput: (request.n ?? 1) * tokensPerPicture,
    units: { images: request.n ?? 1 },
    serviceTier: undefined,
    conversation: undefined,
  };
}

function computeNeeds({ prompt }: ImagesRequest): Needs {
  return { tools: false, vision: false, thinking: false, json: false, inputTokens: estimateTokens(prompt) };
}
