import type { JsonObject } from '#shared/core/json.ts';
import { openaiApi } from '../apis/openai-api.ts';
import { chatStreamAdditions } from '../chat/stream-additions.ts';
import { autoModel, type ClientFormat, type Needs, type RequestParameters } from '../client-format.ts';
import { estimateTokens } from '../estimate-tokens.ts';
import { readJsonRequest } from '../json-request.ts';
import { createOpenaiErrorAnswer } from '../openai/error.ts';
import { createOpenaiLimitHeaders } from '../openai/limit-headers.ts';
import { StatelessStream } from '../sse/streamed-answer.ts';
import { parseImagesRequest, type ImagesRequest } from './parse-images-request.ts';

/** Tokens to reserve for one picture: the maximum of OpenAI's models, for a large picture of high quality (guide "Image generation"). */
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
  errorAnswer: createOpenaiErrorAnswer,
  limitHeaders: createOpenaiLimitHeaders,
  // Answers are never streamed. The type requires the function, so the additions of the chat format are used.
  openStream: ({ requestId }) => new StatelessStream(chatStreamAdditions, requestId),
};

function toParameters(request: ImagesRequest): RequestParameters {
  return {
    model: request.model ?? autoModel,
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
